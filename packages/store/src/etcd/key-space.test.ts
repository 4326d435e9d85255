import { describe, expect, it } from 'vitest'
import { KeySpace } from './key-space.ts'

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')
const range = (keys: KeySpace, prefix: string, after?: string) => {
  const { key, rangeEnd } = keys.rangeOf(prefix, after)
  return [text(key), text(rangeEnd)]
}

describe('the keys of a store in etcd', () => {
  it('are under its prefix', () => {
    const keys = new KeySpace('/store/')
    expect(Buffer.from(keys.bytesOf('é')).toString()).toBe('/store/é')
    expect(keys.keyOf(keys.bytesOf('é'))).toBe('é')
    const within = Buffer.from('...\u002fstore/a...')
    expect(keys.keyOf(within.subarray(3, 11))).toBe('a')
  })

  it('that start with a prefix end where the next begin', () => {
    const keys = new KeySpace('/store/')
    expect(range(keys, 'a/')).toEqual(['/store/a/', '/store/a0'])
    expect(range(keys, '')).toEqual(['/store/', '/store0'])
    expect(range(keys, 'a/', 'a/7')).toEqual(['/store/a/7\0', '/store/a0'])
  })

  it('are all keys there are, where there is no prefix at all', () => {
    const keys = new KeySpace('')
    expect(range(keys, '')).toEqual(['\0', '\0'])
    expect(range(keys, '', 'b')).toEqual(['b\0', '\0'])
    expect(range(keys, 'a')).toEqual(['a', 'b'])
  })
})
