import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { ownPorts } from './own-ports.ts'

it('are others than those on which somebody listens, and than those that another process has kept for its servers', async () => {
  const [before = 0] = await ownPorts(1)
  const listening = createServer()
  const keeping = createSocket('udp4')
  onTestFinished(() => void listening.close())
  onTestFinished(() => void keeping.close())
  listening.listen(before + 1, '127.0.0.1')
  keeping.bind(before + 2, '127.0.0.1')
  await Promise.all([once(listening, 'listening'), once(keeping, 'listening')])
  const [after = 0] = await ownPorts(1)
  expect(after).toBeGreaterThan(before + 2)
})

it('are kept for this process, though nothing listens on them yet', async () => {
  const [port = 0] = await ownPorts(1)
  const other = createSocket('udp4').bind(port, '127.0.0.1')
  await expect(once(other, 'listening')).rejects.toMatchObject({ code: 'EADDRINUSE' })
})
