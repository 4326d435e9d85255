import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** Has a server of a test listen on a free port of this machine, which it returns, until the test is over. */
export async function listenForTest(
  server: Pick<Server, 'listen' | 'once' | 'address' | 'closeAllConnections' | 'close'>,
): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server as Server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
