package plainthrift

import (
	"bytes"
	"net"
	"reflect"
	"testing"
)

// The bytes of two messages, written out by hand from the protocol's rules.
func TestMessageBytes(t *testing.T) {
	got := Message("get", 7, Bytes("t"), I32(-2), Value{}, Bool(true))
	want := "\x80\x01\x00\x01" + "\x00\x00\x00\x03get" + "\x00\x00\x00\x07" +
		"\x0b\x00\x01\x00\x00\x00\x01t" + "\x08\x00\x02\xff\xff\xff\xfe" + "\x02\x00\x04\x01" + "\x00"
	if string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestReadAnswer(t *testing.T) {
	row := Struct(Bytes("k"), Value{TypeMap, []byte("\x0b\x0c\x00\x00\x00\x01\x00\x00\x00\x04cf:a\x0b\x00\x01\x00\x00\x00\x01v\x0a\x00\x02\x00\x00\x00\x00\x00\x00\x00\x05\x00")})
	list := List(TypeStruct, row)
	message := "\x80\x01\x00\x02\x00\x00\x00\x06getRow\x00\x00\x00\x01" + "\x0f\x00\x00" + string(list.Data) + "\x00"
	a, err := ReadAnswer(bytes.NewReader([]byte(message)))
	if err != nil {
		t.Fatal(err)
	}
	if a.Kind != Reply || a.Method != "getRow" || a.Seq != 1 {
		t.Errorf("head: %+v", a)
	}
	rows, err := rowsOf(a.Fields[0])
	if want := []RowResult{{"k", map[string]string{"cf:a": "v"}}}; err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("rows %v, %v; want %v", rows, err, want)
	}
	for cut := range len(message) {
		if _, err := ReadAnswer(bytes.NewReader([]byte(message[:cut]))); err == nil {
			t.Errorf("cut after %d bytes: no error", cut)
		}
	}
}

func TestDoChecksTheNumber(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	go func() {
		defer server.Close()
		buf := make([]byte, 1024)
		server.Read(buf)
		server.Write([]byte("\x80\x01\x00\x02\x00\x00\x00\x01m\x00\x00\x00\x09\x00"))
	}()
	c := newClient(client)
	if _, err := c.Do("m"); err == nil {
		t.Error("a reply with another number was taken")
	}
}
