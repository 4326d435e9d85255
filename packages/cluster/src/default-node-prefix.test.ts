import { describe, expect, it } from 'vitest'
import { defaultNodePrefix } from './default-node-prefix.ts'

describe('the prefix of names of nodes', () => {
  it('is the same on each host for a cluster of one server', () => {
    expect(defaultNodePrefix(false, 'Work-Machine.local')).toBe('node-')
  })

  it('is the name of the host in small letters where servers share objects', () => {
    expect(defaultNodePrefix(true, 'Work-Machine.local')).toBe('work-machine.local-')
  })
})
