package server

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/cellardb/cellar/door"
	"github.com/cellardb/cellar/store"
)

// entrance is one door on its way: it takes its port before the store is
// touched, and lets clients in once there is one.
type entrance interface {
	// name stands in logs, metrics and cellar.run; setting is the key that
	// changes the address.
	name() string
	setting() (key, addr string)
	// bind takes the port. Nothing is accepted yet; clients wait in line.
	bind(ctx context.Context) error
	// addr is the address that bind took.
	addr() net.Addr
	// open begins to accept, with goroutines that shutdown waits for.
	open(st store.Store) error
	// shutdown stops accepting, waits for requests until the context ends,
	// then closes what is left. It comes after bind, with or without open.
	shutdown(ctx context.Context) error
	// ended is closed when nothing is accepted any more; reason is why.
	ended() <-chan struct{}
	reason() error
}

// entrances lists the doors that the configuration opens, in the order in which
// they are opened. The HTTP port is first, and is shut last, so that it tells how
// the server is while the others come and go. Adding a door takes a line here
// and a file door_NAME.go.
func (s *Server) entrances() []entrance {
	list := []entrance{&httpDoor{s: s}}
	if !s.cfg.Thrift1.Off() {
		list = append(list, s.thrift1())
	}
	return list
}

// protocolDoor is an entrance over package door. Doors differ only in
// options and handler.
type protocolDoor struct {
	options door.Options
	key     string
	// handler makes the handler once there is a store; addr is where the door
	// listens.
	handler func(st store.Store, addr net.Addr) (door.Handler, error)

	late lateHandler
	door *door.Door
	done chan struct{}
	err  error // of Serve; valid once done is closed
}

func (p *protocolDoor) name() string                { return p.options.Name }
func (p *protocolDoor) setting() (key, addr string) { return p.key, p.options.Addr }
func (p *protocolDoor) addr() net.Addr              { return p.door.Addr() }
func (p *protocolDoor) ended() <-chan struct{}      { return p.done }
func (p *protocolDoor) reason() error               { return p.err }

func (p *protocolDoor) bind(ctx context.Context) error {
	d, err := door.Listen(ctx, p.options, &p.late)
	p.door, p.done = d, make(chan struct{})
	return err
}

func (p *protocolDoor) open(st store.Store) error {
	h, err := p.handler(st, p.addr())
	if err != nil {
		return err
	}
	p.late.Handler = h
	go func() {
		defer close(p.done)
		p.err = p.door.Serve()
	}()
	return nil
}

func (p *protocolDoor) shutdown(ctx context.Context) error {
	err := p.door.Shutdown(ctx)
	if p.late.Handler != nil {
		<-p.done
	}
	return err
}

// lateHandler stands for a handler that is made after its door was bound, and
// before it serves.
type lateHandler struct{ door.Handler }

// Close passes the end of the door on to a handler that wants to know.
func (h *lateHandler) Close(ctx context.Context) error {
	if c, ok := h.Handler.(door.Closer); ok {
		return c.Close(ctx)
	}
	return nil
}

// bindAll takes the ports of all doors or of none. The error, a PortsError,
// names every one that cannot be had, so that a user does not meet them one
// after the other.
func bindAll(ctx context.Context, doors []entrance) error {
	var failed PortsError
	var bound []entrance
	for _, d := range doors {
		if err := d.bind(ctx); err != nil {
			key, addr := d.setting()
			failed.Ports = append(failed.Ports, &PortError{Door: d.name(), Addr: addr, Setting: key, Err: err})
			continue
		}
		bound = append(bound, d)
	}
	if len(failed.Ports) == 0 {
		return nil
	}
	return errors.Join(&failed, shutAll(ctx, bound))
}

// shutAll gives the ports of doors back that were not opened.
func shutAll(ctx context.Context, doors []entrance) error {
	var errs []error
	for _, d := range doors {
		if err := d.shutdown(ctx); err != nil {
			errs = append(errs, fmt.Errorf("shut door %s: %w", d.name(), err))
		}
	}
	return errors.Join(errs...)
}
