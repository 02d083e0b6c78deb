package link

import (
	"errors"

	"github.com/clewdev/clew/object"
)

type state struct{ symbols map[string]uint64 }

func (p *state) close() error { return nil }

func load(*Options, []*object.File) (*Program, error) { return nil, errors.ErrUnsupported }
