import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { recordingHost } from '../testing/recording-host.ts'
import { serverLogAsidePath, serverLogPath, withBoundedLog } from './server-log.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'server-log-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** A host whose output goes to the log, as that of a detached server. */
function loggingHost(bytesMax: number) {
  const output = {
    write: (chunk: string | Uint8Array) => appendFileSync(serverLogPath(directory), chunk),
    drained: async () => {},
    isTerminal: false,
  }
  return withBoundedLog({ ...recordingHost(), stdout: output, stderr: output }, directory, bytesMax)
}

const read = (path: string) => readFileSync(path, 'utf8')

it('puts the log aside when it has grown, and keeps one', () => {
  appendFileSync(serverLogPath(directory), 'before\n')
  const { stdout, stderr } = loggingHost(20)
  stdout.write('first\n')
  expect(read(serverLogPath(directory))).toBe('before\nfirst\n')
  stderr.write('the second is long\n')
  expect(read(serverLogAsidePath(directory))).toBe('before\nfirst\nthe second is long\n')
  expect(read(serverLogPath(directory))).toBe('')
  stdout.write('third\n')
  expect(read(serverLogPath(directory))).toBe('third\n')
  stdout.write('fourth, and long as well\n')
  expect(read(serverLogAsidePath(directory))).toBe('third\nfourth, and long as well\n')
})

it('lets nobody fall over a directory that is gone', () => {
  const lost = { write: () => {}, drained: async () => {}, isTerminal: false }
  const { stdout } = withBoundedLog({ ...recordingHost(), stdout: lost }, join(directory, 'gone'), 3)
  expect(() => stdout.write('more than three')).not.toThrow()
})
