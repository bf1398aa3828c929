package server

import "github.com/cellardb/cellar/store"

// admin gives the store to the HTTP port's administrative calls; nil while it
// is being opened. Once it is closed it says so itself.
func (s *Server) admin() store.Admin {
	if s.state.get() == stateStarting || s.store == nil {
		return nil
	}
	return s.store
}
