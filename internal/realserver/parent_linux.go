package realserver

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes the system kill the server if this process is killed and
// can't do it itself.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
