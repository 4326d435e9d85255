import type { PersistentVolume } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { planVolumeProtection } from './plan.ts'

const finalizer = 'kubernetes.io/pv-protection'
const other = 'example.com/mine'

const volume = (finalizers: readonly string[] | undefined, more: object = {}, phase?: string): PersistentVolume =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: 'pv',
      uid: 'u',
      resourceVersion: '7',
      ...(finalizers === undefined ? {} : { finalizers }),
      ...more,
    },
    ...(phase === undefined ? {} : { status: { phase } }),
  }) as PersistentVolume
const going = { deletionTimestamp: '2026-01-01T00:00:00Z' }

/** The finalizers that a plan writes, and why; undefined where it does nothing. */
function written(of: PersistentVolume): { readonly finalizers: unknown; readonly because: string } | undefined {
  const [action, ...rest] = planVolumeProtection(of).actions
  expect(rest).toEqual([])
  if (action === undefined) return undefined
  expect(action).toMatchObject({ type: 'patch', resource: { plural: 'persistentvolumes' }, key: { name: 'pv' } })
  const { patch, because } = action as never as {
    patch: { body: { metadata: { finalizers: unknown } } }
    because: string
  }
  expect(patch.body).toMatchObject({ metadata: { uid: 'u', resourceVersion: '7' } })
  return { finalizers: patch.body.metadata.finalizers, because }
}

describe('a volume', () => {
  it.each<[string, PersistentVolume, readonly string[] | null | undefined]>([
    ['is protected', volume(undefined), [finalizer]],
    ['is protected beside what others say of it', volume([other], {}, 'Bound'), [other, finalizer]],
    ['is protected once', volume([finalizer], {}, 'Bound'), undefined],
    ['that is to go waits for the claim that has it', volume([finalizer, other], going, 'Bound'), undefined],
    ['goes once no claim has it', volume([finalizer], going, 'Released'), null],
    ['is left to others once no claim has it', volume([other, finalizer], going, 'Available'), [other]],
    ['that nobody has looked at goes', volume([finalizer], going), null],
    ['that is to go is not protected any more', volume([other], going, 'Available'), undefined],
  ])('%s', (_what, of, finalizers) => {
    expect(written(of)?.finalizers).toEqual(finalizers)
  })

  it('says why it is protected, and why it may go', () => {
    expect(written(volume([]))?.because).toBe('a claim may have the volume')
    expect(written(volume([finalizer], going, 'Released'))?.because).toBe('no claim has the volume')
  })
})
