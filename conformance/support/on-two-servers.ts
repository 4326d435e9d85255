import { Program } from './program.ts'
import { startAsTwoServers } from './two-servers.ts'

// A set-up file of Vitest: tests that start a program get two servers on one etcd, with each write on one and each read on the
// other. `CORACLE_TEST_SERVERS=2 npx vitest run conformance` runs all tests so.
Program.startInstead(startAsTwoServers)
