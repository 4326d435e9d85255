import { describe, expect, it } from 'vitest'
import { LoadOnce } from './load-once.ts'

describe('what is loaded once', () => {
  it('is loaded when it is first asked for, for all who ask', async () => {
    let loads = 0
    const value = new LoadOnce(async () => ++loads)
    expect([loads, value.begun]).toEqual([0, undefined])
    expect(await Promise.all([value.get(), value.get()])).toEqual([1, 1])
    expect(await value.begun).toBe(1)
  })

  it('is loaded anew where that has failed', async () => {
    let loads = 0
    const value = new LoadOnce(async () => {
      loads += 1
      if (loads === 1) throw new Error('too many open files')
      return loads
    })
    await Promise.all([value.get(), value.get()].map((each) => expect(each).rejects.toThrow('too many open files')))
    expect(value.begun).toBeUndefined()
    expect(await value.get()).toBe(2)
  })
})
