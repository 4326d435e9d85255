import { expect, it } from 'vitest'
import { onTerminal } from './terminal.ts'

it('a terminal is refused on a host without the program that makes one, and says what to install', () => {
  const command = { directory: '/', env: {}, argv: ['sh'] }
  expect(() => onTerminal(command, '/nowhere', undefined, ['/nowhere/script', '/bin/sh'])).toThrow(
    'a terminal (tty) needs the program "script" of util-linux on this host: install util-linux, or leave the terminal out (-t)',
  )
})
