import { describe, expect, it } from 'vitest'
import { columnNames, decoded, problemsOfCreate, row } from '../../../test/requests.ts'
import { FieldPath } from '../../field-path.ts'
import { deepFreeze } from '../../freeze.ts'
import type { PodSpec } from './pod/pod-spec.ts'
import { podTemplateDefaults } from './pod/pod-template-defaults.ts'
import { validatePodTemplateSpec } from './pod/pod-validation.ts'
import { podTemplates } from './pod-template.ts'

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } }

it('has the defaults of a pod spec', () => {
  expect(decoded(podTemplates, { template }).template?.spec).toMatchObject({ restartPolicy: 'Always' })
  expect(problemsOfCreate(podTemplates, { template })).toEqual([])
  expect(problemsOfCreate(podTemplates, {})).toEqual(['template.spec.containers: Required value'])
})

describe('a spec that nobody can change any more', () => {
  const containers = [{ name: 'web', image: 'nginx' }]

  it('gets its defaults once', () => {
    const spec = deepFreeze<PodSpec>({ containers })
    const { spec: completed } = podTemplateDefaults({ spec })
    expect(completed).toMatchObject({ restartPolicy: 'Always' })
    expect(podTemplateDefaults({ metadata: { labels: { app: 'web' } }, spec }).spec).toBe(completed)
    expect(podTemplateDefaults({ spec: completed }).spec).toBe(completed)
  })

  it('is checked until it is found to be without a fault', () => {
    let reads = 0
    const counted = {
      containers: podTemplateDefaults({ spec: { containers } }).spec.containers,
      get volumes() {
        reads += 1
        return undefined
      },
    }
    const spec: PodSpec = Object.freeze(counted)
    const problems = (of: PodSpec) => validatePodTemplateSpec({ spec: of }, FieldPath.of('template'))
    expect(problems(spec)).toEqual([])
    const readsAtFirst = reads
    expect(problems(spec)).toEqual([])
    expect([readsAtFirst > 0, reads]).toEqual([true, readsAtFirst])
    const faulty = deepFreeze<PodSpec>({ ...counted, hostname: 'Not a label' })
    for (const _time of ['first', 'second']) expect(problems(faulty)).toHaveLength(1)
  })
})

it('shows what its pods run in a table', () => {
  expect(columnNames(podTemplates)).toEqual({ shown: ['Name', 'Containers', 'Images', 'Pod Labels'], wide: [] })
  expect(row(podTemplates, { template }, 0)).toEqual({
    Name: 'x',
    Containers: 'web',
    Images: 'nginx',
    'Pod Labels': 'app=web',
  })
})
