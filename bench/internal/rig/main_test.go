package rig

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	PlayRole(map[string]Role{RoleRelay: ServeRelay})
	os.Exit(m.Run())
}
