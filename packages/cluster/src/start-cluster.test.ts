import { describe, expect, it } from 'vitest'
import { defaultNodePrefix } from './start-cluster.ts'

describe('names of nodes', () => {
  it('begin with that of the host where several servers share them, in small letters', () => {
    expect([defaultNodePrefix(true, 'Marys-Mac.local'), defaultNodePrefix(false, 'Marys-Mac.local')]).toEqual([
      'marys-mac.local-',
      'node-',
    ])
  })
})
