import { expect, it, vi } from 'vitest'
import { onTerminal } from './terminal.ts'

vi.mock('node:child_process', () => ({
  execFile: () => {},
  spawnSync: () => ({ stdout: 'BusyBox v1.36.1 multi-call binary.' }),
}))

it('a terminal is refused on a host without the program that makes one, and says what to install', () => {
  const command = { directory: '/', env: {}, argv: ['sh'] }
  expect(() => onTerminal(command, '/nowhere')).toThrow(
    'a terminal (tty) needs the program "script" of util-linux on this host: install util-linux, or leave the terminal out (-t)',
  )
})
