import { describe, expect, it } from 'vitest'
import { decoded, problemsOfCreate, problemsOfUpdate, row } from '../../../test/requests.ts'
import { parametersMax } from './parameters.ts'
import { isDefaultStorageClass, storageClasses } from './storage-class.ts'

const local = { provisioner: 'example.com/local' }
const zone = (...values: readonly string[]) => ({ matchLabelExpressions: [{ key: 'zone', values }] })
const tooMany = Object.fromEntries(Array.from({ length: parametersMax + 1 }, (_, index) => [`p${index}`, '']))

describe('a storage class', () => {
  it('deletes its volumes with their claims, and binds at once', () => {
    expect(decoded(storageClasses, local)).toMatchObject({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' })
  })

  it.each<readonly [string, object, readonly string[]]>([
    ['a good one', { ...local, allowedTopologies: [zone('a', 'b'), zone('c')] }, []],
    ['a policy that is empty', { ...local, reclaimPolicy: '' }, []],
    ['no provisioner', {}, ['provisioner: Required value']],
    [
      'policies nobody knows',
      { ...local, reclaimPolicy: 'Recycle', volumeBindingMode: 'Later' },
      [
        'reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"',
        'volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"',
      ],
    ],
    [
      'the same place twice',
      { ...local, allowedTopologies: [zone('a', 'b'), zone('b', 'a')] },
      ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
    ],
    [
      'places that say nothing, once for each and once for each before',
      { ...local, allowedTopologies: [{}, zone('a'), {}] },
      [
        ...Array(3).fill('allowedTopologies[0].matchLabelExpressions: Duplicate value: ""'),
        ...Array(4).fill('allowedTopologies[2].matchLabelExpressions: Duplicate value: ""'),
      ],
    ],
    [
      'places that are none',
      { ...local, allowedTopologies: [zone(), zone('a', 'a')] },
      [
        'allowedTopologies[0].matchLabelExpressions[0].values: Required value',
        'allowedTopologies[1].matchLabelExpressions[0].values[1]: Duplicate value: "a"',
      ],
    ],
    [
      'too many parameters',
      { ...local, parameters: tooMany },
      [`parameters: Too long: may not be more than ${parametersMax} bytes`],
    ],
    [
      'parameters that are too long',
      { ...local, parameters: { a: 'x'.repeat(256 * 1024) } },
      ['parameters: Too long: may not be more than 262144 bytes'],
    ],
  ])('%s', (_, draft, problems) => {
    expect(problemsOfCreate(storageClasses, { ...draft })).toEqual(problems)
  })

  it('may only change what concerns nobody yet', () => {
    const changed = {
      provisioner: 'example.com/other',
      parameters: { c: 'd', a: 'b' },
      reclaimPolicy: 'Retain',
      volumeBindingMode: 'WaitForFirstConsumer',
      allowVolumeExpansion: true,
    }
    expect(problemsOfUpdate(storageClasses, local, changed)).toEqual([
      'parameters: Invalid value: {"a":"b","c":"d"}: field is immutable',
      'provisioner: Invalid value: "example.com/other": field is immutable',
      'reclaimPolicy: Invalid value: "Retain": field is immutable',
      'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
    ])
    expect(problemsOfUpdate(storageClasses, local, { ...local, allowVolumeExpansion: true })).toEqual([])
    expect(problemsOfUpdate(storageClasses, local, { ...local, allowedTopologies: [zone('a'), zone('a')] })).toEqual([
      'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
    ])
  })

  it.each(['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'])(
    'is the default one by %s, and shown so',
    (annotation) => {
      const metadata = { name: 'fast', annotations: { [annotation]: 'true' } }
      expect(isDefaultStorageClass(decoded(storageClasses, { ...local, metadata }))).toBe(true)
      expect(row(storageClasses, { ...local, metadata }, 0)).toMatchObject({
        Name: 'fast (default)',
        Provisioner: 'example.com/local',
        ReclaimPolicy: 'Delete',
        VolumeBindingMode: 'Immediate',
        AllowVolumeExpansion: false,
      })
    },
  )
})
