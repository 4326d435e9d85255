import { describe, expect, it } from 'vitest'
import { runCommand } from '../testing/recording-host.ts'

describe('what makes machines nodes', () => {
  it.each([
    [
      'a token that is over when it is made',
      ['token', 'create', '--ttl', '-1h'],
      '--ttl is less than no time: give how long the token is good for, or 0 for no end',
    ],
    ['a name as the address of a node', ['agent', '--node-ip', 'host-1'], '--node-ip: "host-1" is no IP address'],
  ])('is refused: %s', async (_, args, message) => {
    expect(await runCommand(args)).toEqual({ code: 1, stdout: '', stderr: `error: ${message}\n` })
  })
})
