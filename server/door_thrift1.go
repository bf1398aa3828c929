package server

import (
	"net"
	"os"

	"github.com/cellardb/cellar/door"
	"github.com/cellardb/cellar/door/thrift1"
	"github.com/cellardb/cellar/store"
)

// thrift1 is the HBase Thrift 1 door as the configuration wants it.
func (s *Server) thrift1() entrance {
	return &protocolDoor{
		key:     "thrift1.addr",
		options: s.thrift1Door(),
		handler: func(st store.Store, addr net.Addr) (door.Handler, error) {
			return thrift1.New(s.thrift1Handler(st, addr))
		},
	}
}

func (s *Server) thrift1Door() door.Options {
	c := s.cfg.Thrift1
	return door.Options{
		Name: DoorThrift1, Addr: c.Addr,
		MaxConnections: c.MaxConnections, MaxRequest: int(c.MaxFrame), InFlight: s.inFlight,
		IdleTimeout: c.IdleTimeout, Logger: s.log, Metrics: s.metrics,
	}
}

func (s *Server) thrift1Handler(st store.Store, addr net.Addr) thrift1.Options {
	c := s.cfg.Thrift1
	host, port := advertised(addr)
	return thrift1.Options{
		Store: st, Name: DoorThrift1,
		ScannerTimeout: c.ScannerTimeout, FetchTimeout: c.FetchTimeout,
		// A reply is memory in flight like a request.
		MaxReply:  int(min(thrift1.DefaultMaxReply, s.split.Doors)),
		Transport: unlessAuto(c.Transport), Protocol: unlessAuto(c.Protocol),
		Host: host, Port: port,
		Logger: s.log, Metrics: s.metrics,
	}
}

// unlessAuto is the name of what must be used; empty: anything may be.
func unlessAuto(name string) string {
	if name == "auto" {
		return ""
	}
	return name
}

// advertised is where clients are told that a door is: the address that it
// listens on, or the machine's name where that is every interface.
func advertised(addr net.Addr) (host string, port int) {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return "localhost", 0
	}
	if !tcp.IP.IsUnspecified() {
		return tcp.IP.String(), tcp.Port
	}
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	return name, tcp.Port
}
