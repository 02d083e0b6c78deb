// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package export

// list is messages that wait, the oldest first.
type list struct {
	messages []message
	bytes    int64
}

func (l *list) push(m message) {
	l.messages = append(l.messages, m)
	l.bytes += int64(len(m.data))
}

// pushFront adds a message that is older than the others.
func (l *list) pushFront(m message) {
	l.messages = append([]message{m}, l.messages...)
	l.bytes += int64(len(m.data))
}

// pop removes the oldest message.
func (l *list) pop() message {
	m := l.messages[0]
	l.messages[0].data = nil
	l.messages = l.messages[1:]
	l.bytes -= int64(len(m.data))
	return m
}
