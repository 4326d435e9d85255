import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { run } from '../program.ts'
import { recordingHost } from '../testing/recording-host.ts'

let server: Server
let goOn: () => void

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/bytes') return void response.end(Buffer.from([0xff, 0x00, 0xfe]))
    if (request.url === '/none') return void response.writeHead(404).end('no such page')
    response.write('one\n')
    goOn = () => response.end('two\n')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return () => server.close().closeAllConnections()
})

/** `get --raw` of a path; its pieces as they are written. */
function getRaw(path: string) {
  const host = recordingHost()
  const pieces: Buffer[] = []
  const stdout = { ...host.stdout, write: (piece: string | Uint8Array) => void pieces.push(Buffer.from(piece)) }
  const { port } = server.address() as AddressInfo
  const ended = run(['get', '--raw', path, `--server=http://127.0.0.1:${port}`], { ...host, stdout })
  return { ended, written: () => Buffer.concat(pieces), stderr: () => host.written.stderr }
}

it('shows what comes as it comes', async () => {
  const { ended, written } = getRaw('/watch')
  onTestFinished(() => goOn())
  await expect.poll(() => written().toString()).toBe('one\n')
  goOn()
  expect(await ended).toBe(0)
  expect(written().toString()).toBe('one\ntwo\n')
})

it('shows what is no text byte for byte', async () => {
  const { ended, written } = getRaw('/bytes')
  expect(await ended).toBe(0)
  expect([...written()]).toEqual([0xff, 0x00, 0xfe])
})

it('tells what a server refuses', async () => {
  const { ended, stderr } = getRaw('/none')
  expect(await ended).toBe(1)
  expect(stderr()).toMatch(/^Error from server/)
})
