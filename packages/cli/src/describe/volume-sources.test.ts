import { describe, expect, it } from 'vitest'
import { Description } from './description.ts'
import { describeVolumeSource } from './volume-sources.ts'

describe('the source of a volume', () => {
  it.each([
    [
      'of a pod, has its Secret in the namespace of the pod',
      false,
      { name: 'key' },
      '&LocalObjectReference{Name:key,}',
    ],
    [
      'of a PersistentVolume, has its Secret in any namespace',
      true,
      { name: 'key', namespace: 'space' },
      '&SecretReference{Name:key,Namespace:space,}',
    ],
    ['of a PersistentVolume, may not say in which', true, { name: 'key' }, '&SecretReference{Name:key,Namespace:,}'],
    ['may have none', true, undefined, 'nil'],
  ])('%s', (_, persistent, secretRef, shown) => {
    const text = new Description()
    describeVolumeSource(text, { rbd: { monitors: [], image: 'i', ...(secretRef && { secretRef }) } }, { persistent })
    expect(text.toString()).toMatch(new RegExp(`^ +SecretRef: +${shown.replace(/[{}]/g, '\\$&')}$`, 'm'))
  })
})
