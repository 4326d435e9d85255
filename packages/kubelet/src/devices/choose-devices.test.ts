import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chosenDevices, offeredDevices } from './choose-devices.ts'

const resource = 'example.com/gpu'
const healthy = (...ids: readonly string[]) => new Map(ids.map((id) => [id, true]))
const choice = (
  devices: ReadonlyMap<string, boolean> | undefined,
  inUse: readonly string[] = [],
  reusable: readonly string[] = [],
) => ({
  resource,
  devices,
  inUse: new Set(inUse),
  reusable,
})

describe('the devices that a container can get', () => {
  it.each<[string, Parameters<typeof offeredDevices>[0], number, string]>([
    ['nobody offers', choice(undefined), 1, 'cannot allocate unregistered device example.com/gpu'],
    [
      'are all unhealthy',
      choice(new Map([['a', false]])),
      1,
      'no healthy devices present; cannot allocate unhealthy devices example.com/gpu',
    ],
    [
      'others have',
      choice(healthy('a', 'b'), ['a']),
      2,
      'requested number of devices unavailable for example.com/gpu. Requested: 2, Available: 1',
    ],
    [
      'are too few beside those of init containers',
      choice(healthy('a', 'b'), ['a', 'b'], ['a']),
      2,
      'requested number of devices unavailable for example.com/gpu. Requested: 1, Available: 0',
    ],
  ])('are none where they %s', (_, given, count, message) => {
    expect(() => offeredDevices(given, count)).toThrow(new Error(message))
  })

  it('are healthy ones that nobody has', () => {
    const devices = new Map([
      ['a', true],
      ['b', false],
      ['c', true],
    ])
    expect(offeredDevices(choice(devices, ['a']), 1)).toEqual({ taken: [], available: ['c'] })
  })

  it('are first those that its init containers had, and no more of these than it wants', () => {
    expect(offeredDevices(choice(healthy('a', 'b', 'c'), ['a', 'b'], ['a', 'b']), 1)).toEqual({
      taken: ['a'],
      available: ['c'],
    })
  })
})

describe('the devices that a container gets', () => {
  it.each<[string, readonly string[], readonly string[], readonly string[]]>([
    ['in the order of their plugin', [], [], ['a', 'b']],
    ['those that the plugin prefers', [], ['c', 'b'], ['c', 'b']],
    ['some that it prefers, and others', [], ['c'], ['c', 'a']],
    ['none that it must not prefer', [], ['x', 'c'], ['c', 'a']],
    ['those that are taken before all', ['x'], ['c'], ['x', 'c']],
  ])('are %s', (_, taken, preferred, expected) => {
    expect(chosenDevices({ taken, available: ['a', 'b', 'c'] }, preferred, 2)).toEqual(expected)
  })

  it('are as many as it wants, no two alike, and nobody else’s', () => {
    const ids = fc.uniqueArray(fc.constantFrom(...'abcdefgh'))
    fc.assert(
      fc.property(ids, ids, ids, fc.nat(8), (all, used, preferred, count) => {
        const inUse = used.filter((id) => all.includes(id))
        const given = choice(healthy(...all), inUse)
        if (all.length === 0 || all.length - inUse.length < count) return
        const chosen = chosenDevices(offeredDevices(given, count), preferred, count)
        expect(new Set(chosen).size).toBe(count)
        expect(chosen.every((id) => all.includes(id) && !inUse.includes(id))).toBe(true)
      }),
    )
  })
})
