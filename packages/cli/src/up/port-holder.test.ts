import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hostProcesses } from '../host-processes.ts'
import { holderText, portHolder } from './port-holder.ts'

const process42 = { pid: 42, parent: 1, session: '1', started: '7', command: 'nginx\0-g\0daemon off;\0' }

describe.skipIf(process.platform !== 'linux')('who holds a port', () => {
  it('is found among the processes of this machine', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect(portHolder(port, hostProcesses)?.pid).toBe(process.pid)
    server.close()
    await once(server, 'close')
    expect(portHolder(port, hostProcesses)).toBeUndefined()
  })
})

describe('who holds a port, as the system tells', () => {
  const headers = 'sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode\n'
  const line = (port: string, state: string, inode: number) =>
    `0: 0100007F:${port} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000 0 0 ${inode} 1\n`

  function proc(tcp: string): string {
    const directory = mkdtempSync(join(tmpdir(), 'proc-'))
    for (const path of ['net', '42/fd', '43']) mkdirSync(join(directory, path), { recursive: true })
    writeFileSync(join(directory, 'net', 'tcp'), headers + tcp)
    symlinkSync('socket:[9]', join(directory, '42', 'fd', '3'))
    return directory
  }

  it.each([
    ['is the process that listens', line('192B', '0A', 9), 42],
    ['is nobody who is only connected', line('192B', '01', 9), undefined],
    ['is nobody who listens elsewhere', line('192C', '0A', 9), undefined],
    ['cannot be told of processes whose files cannot be seen', line('192B', '0A', 10), undefined],
  ])('%s', (_, tcp, pid) => {
    const directory = proc(tcp)
    const processes = { ...hostProcesses, read: (asked: number) => (asked === 42 ? process42 : undefined) }
    expect(portHolder(6443, processes, directory)?.pid).toBe(pid)
    rmSync(directory, { recursive: true })
  })
})

describe('holderText', () => {
  it('names process and command, cut where that is long', () => {
    expect(holderText(process42)).toBe(' by process 42 (nginx -g daemon off;)')
    expect(holderText({ ...process42, command: 'x'.repeat(100) })).toBe(` by process 42 (${'x'.repeat(60)}…)`)
    expect(holderText(undefined)).toBe('')
  })
})
