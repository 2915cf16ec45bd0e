package rig

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	PlayRole(map[string]Role{RoleRelay: ServeRelay, RoleStub: ServeStub})
	os.Exit(m.Run())
}
