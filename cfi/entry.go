package cfi
type CIE struct{}
