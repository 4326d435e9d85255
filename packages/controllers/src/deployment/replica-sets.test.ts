import type { PodTemplateSpec } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { replicaSet, templateOf } from '../testing/deployments.ts'
import { byRevision, hasTemplate, withoutHash } from './replica-sets.ts'

describe('two templates', () => {
  const [{ spec }, labels] = [templateOf('new'), { app: 'web' }]

  it.each<readonly [string, PodTemplateSpec | undefined, boolean]>([
    ['the same but for the label that tells them apart', replicaSet('x', { image: 'new' }).spec.template, true],
    ['others where their containers are', templateOf('other'), false],
    ['others where one is not there', undefined, false],
  ])('are %s', (_, template, wanted) => {
    expect(hasTemplate(template, templateOf('new'))).toBe(wanted)
  })

  it.each<PodTemplateSpec>([{ spec }, { spec, metadata: {} }, { spec, metadata: { labels } }])(
    'are compared as they are without that label: %o',
    (template) => {
      expect(withoutHash(template)).toBe(template)
    },
  )
})

it('orders ReplicaSets by their revisions, first those that have none or no number', () => {
  const odd = replicaSet('odd', { annotations: { 'deployment.kubernetes.io/revision': 'x' } })
  const [third, fifth] = [replicaSet('third', { revision: 3 }), replicaSet('fifth', { revision: 5 })]
  expect([byRevision(fifth, third), byRevision(third, fifth)]).toEqual([1, -1])
  expect([byRevision(odd, third), byRevision(third, odd), byRevision(odd, replicaSet('none'))]).toEqual([-1, 1, 0])
})
