package storetest

import "errors"

// ErrStopped is the error of a call during which a Weak engine stopped: what was
// done of it is not known.
var ErrStopped = errors.New("the engine stopped during the call: what was done is not known")
