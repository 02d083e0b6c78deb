// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debuginfod_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/debugfile/debuginfod"
)

// A program that links net/http anyway needs no curl.
func ExampleClient() {
	client := debuginfod.Client{
		Servers: []string{"http://127.0.0.1:1"}, // no server listens there
		Get: func(ctx context.Context, url string, to io.Writer) error {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			if err != nil {
				return err
			}
			inPlace := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			response, err := inPlace.Do(request)
			if err != nil {
				return err
			}
			defer response.Body.Close()
			switch response.StatusCode {
			case http.StatusOK:
				_, err = io.Copy(to, response.Body)
				return err
			case http.StatusNotFound:
				return fs.ErrNotExist
			case http.StatusMovedPermanently, http.StatusFound:
				return &debuginfod.RedirectError{Location: response.Header.Get("Location")}
			}
			return errors.New(response.Status)
		},
	}
	search := debugfile.Search{Stores: []debugfile.Store{}, Fetch: client.Fetch}
	_, err := search.OpenObject(&debugfile.Module{Path: "/opt/server", BuildID: []byte{0xc0, 0xff, 0xee}})
	var server *debuginfod.ServerError
	if errors.As(err, &server) {
		fmt.Println("asked", server.Server)
	}
	// Output: asked http://127.0.0.1:1
}
