package top

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Source asks a server. It is used by one goroutine at a time.
type Source struct {
	// Locate gives the HTTP address to ask, host:port. It is called before each
	// sample, since a server that was started anew may have another. Required.
	Locate func() (string, error)
	// Tables is how many hot tables are asked for; 0: 50.
	Tables int
	// Client; nil: one without a pool, so that no connection outlives a sample.
	Client *http.Client
}

const (
	// askTimeout bounds one sample; a server that takes longer does not answer.
	askTimeout = 5 * time.Second
	// maxReply bounds what is read of a reply.
	maxReply = 32 << 20
)

// errAbsent says that the server does not have a path.
var errAbsent = errors.New("no such path")

// Sample asks the server once.
func (c *Source) Sample(ctx context.Context) (*Sample, error) {
	addr, err := c.Locate()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	s := &Sample{Addr: addr, At: time.Now()}
	if err := c.json(ctx, addr, "/v1/status", &s.Status); err != nil {
		return nil, err
	}
	if s.Status.State == "" {
		return nil, fmt.Errorf("%s does not answer as Cellar does", addr)
	}
	tables := c.Tables
	if tables == 0 {
		tables = 50
	}
	err = c.json(ctx, addr, fmt.Sprintf("/v1/top?tables=%d", tables), &s.Top)
	if err != nil && !errors.Is(err, errAbsent) {
		return nil, err
	}
	if s.Metrics, err = c.metrics(ctx, addr); err != nil {
		return nil, err
	}
	return s, nil
}

// ask sends one question; the caller closes the answer.
func (c *Source) ask(ctx context.Context, addr, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return nil, fmt.Errorf("%q is no address: want host:port", addr)
	}
	client := c.Client
	if client == nil {
		client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the server: %w", err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound {
		return nil, fmt.Errorf("%s%s: %w", addr, path, errAbsent)
	}
	return nil, fmt.Errorf("%s%s answers %s", addr, path, resp.Status)
}

func (c *Source) json(ctx context.Context, addr, path string, into any) error {
	resp, err := c.ask(ctx, addr, path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxReply)).Decode(into); err != nil {
		return fmt.Errorf("%s%s does not answer as Cellar does: %w", addr, path, err)
	}
	return nil
}

func (c *Source) metrics(ctx context.Context, addr string) (map[string]*dto.MetricFamily, error) {
	resp, err := c.ask(ctx, addr, "/metrics")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	all, err := parseMetrics(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return nil, fmt.Errorf("%s/metrics does not answer as Cellar does: %w", addr, err)
	}
	return all, nil
}

func parseMetrics(r io.Reader) (map[string]*dto.MetricFamily, error) {
	p := expfmt.NewTextParser(model.UTF8Validation)
	return p.TextToMetricFamilies(r)
}
