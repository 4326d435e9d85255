import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, expect, it, vi } from 'vitest'
import { checkRoom } from './disk-room.ts'
import { StoreFailedError } from './errors.ts'
import { roomMinBytes } from './limits.ts'

vi.mock('node:fs', async (original) => ({ ...(await original<typeof import('node:fs')>()), statfsSync: vi.fn() }))

describe('a full disk', () => {
  const withFree = (bavail: number, bsize = 4096) =>
    vi.mocked(statfsSync).mockReturnValue({ bavail, bsize } as ReturnType<typeof statfsSync>)

  it('is named before a store is opened there', () => {
    withFree(2)
    expect(() => checkRoom(tmpdir())).toThrow(/^ENOSPC: .* has 8192 bytes left, and a store needs 1048576 to start$/)
    withFree(roomMinBytes / 4096 - 1)
    expect(() => checkRoom(tmpdir())).toThrow(expect.objectContaining({ code: 'ENOSPC' }))
    withFree(roomMinBytes / 4096)
    checkRoom(tmpdir())
  })

  it('is not taken for full where the system does not tell', () => {
    withFree(0, 0)
    checkRoom(tmpdir())
  })

  it.each([Object.assign(new Error('write'), { code: 'ENOSPC' }), new Error('Error: No space left on device')])(
    'is named when a store fails of it: %s',
    (cause) => {
      expect(new StoreFailedError('/data', cause).message).toMatch(
        /calls: the disk is full; make room and start again: /,
      )
      expect(new StoreFailedError('/data', new Error('input/output error')).message).toMatch(
        /calls: input\/output error$/,
      )
    },
  )
})
