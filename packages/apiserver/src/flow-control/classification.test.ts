import {
  type FlowSchema,
  type FlowSchemaSpec,
  flowSchemas,
  type PriorityLevelConfiguration,
  priorityLevelConfigurations,
} from '@coracle/api'
import { beforeEach, expect, it } from 'vitest'
import { routeOf } from '../http/routes.ts'
import { startTestCore, type TestCore } from '../testing/test-core.ts'
import { FlowControl } from './flow-control.ts'

const apiVersion = 'flowcontrol.apiserver.k8s.io/v1'

const unwatched = { interestedIn: () => 0 }

let test: TestCore
let flowControl: FlowControl

beforeEach(async () => {
  test = await startTestCore()
  flowControl = new FlowControl(test.core.registries, unwatched, 100)
})

const jane = { name: 'jane', groups: ['system:authenticated'] }
const master = { name: 'root', groups: ['system:masters'] }
const anonymous = { name: 'system:anonymous', groups: ['system:unauthenticated'] }
const get = (path: string) => routeOf('GET', path, () => false)

/** `schema/level` of a request. */
function levelOf(user = jane, path = '/api/v1/namespaces/a/pods/p'): string {
  const { schema, level, isExempt } = flowControl.classify(user, get(path))
  return `${schema.metadata.name}/${level.metadata.name}${isExempt ? ', exempt' : ''}`
}

const addLevel = (name: string): Promise<PriorityLevelConfiguration> =>
  test.client.create(priorityLevelConfigurations, {
    apiVersion,
    kind: 'PriorityLevelConfiguration',
    metadata: { name },
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: 50, limitResponse: { type: 'Reject' } } },
  })

/** A schema for all that jane asks for about pods. */
const addSchema = (name: string, level: string, more: Partial<FlowSchemaSpec> = {}): Promise<FlowSchema> =>
  test.client.create(flowSchemas, {
    apiVersion,
    kind: 'FlowSchema',
    metadata: { name },
    spec: {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence: 500,
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'jane' } }],
          resourceRules: [{ verbs: ['*'], apiGroups: [''], resources: ['pods'], namespaces: ['*'] }],
        },
      ],
      ...more,
    },
  })

it('gives requests the levels that they have in every cluster', () => {
  expect(levelOf()).toBe('global-default/global-default')
  expect(levelOf(master)).toBe('exempt/exempt, exempt')
  expect(levelOf(anonymous, '/healthz')).toBe('probes/exempt, exempt')
  expect(levelOf(anonymous, '/version')).toBe('global-default/global-default')
  expect(levelOf({ name: 'nobody', groups: [] })).toBe('catch-all/catch-all')
})

it('gives a request the level of the schema of least precedence, of equal ones of the first by name, from when it is there', async () => {
  await addLevel('own')
  await addSchema('late', 'own', { matchingPrecedence: 600 })
  expect(levelOf()).toBe('late/own')
  await addSchema('b', 'own')
  expect(levelOf()).toBe('b/own')
  await addSchema('a', 'own')
  expect(levelOf()).toBe('a/own')
  await test.client.delete(flowSchemas, { name: 'a' })
  await test.client.delete(flowSchemas, { name: 'b' })
  expect(levelOf()).toBe('late/own')
})

it('asks the schema for everything last, whatever its precedence', async () => {
  await addLevel('own')
  await addSchema('last', 'own', {
    matchingPrecedence: 10_000,
    rules: [
      {
        subjects: [{ kind: 'Group', group: { name: 'odd' } }],
        nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
      },
    ],
  })
  expect(levelOf({ name: 'odd', groups: ['odd'] }, '/version')).toBe('last/own')
})

it('passes over schemas whose level is not there, until it is', async () => {
  await addSchema('mine', 'own')
  expect(levelOf()).toBe('global-default/global-default')
  await addLevel('own')
  expect(levelOf()).toBe('mine/own')
})

it('has what must be there also where it has been deleted', async () => {
  await test.client.delete(flowSchemas, { name: 'catch-all' })
  await test.client.delete(priorityLevelConfigurations, { name: 'catch-all' })
  expect(levelOf({ name: 'nobody', groups: [] })).toBe('catch-all/catch-all')
  expect(flowControl.levels().filter(({ name }) => name === 'catch-all')).toHaveLength(1)
})

it('tells flows apart by their schema and by what it tells them apart by', async () => {
  await addLevel('own')
  await addSchema('by-namespace', 'own', { distinguisherMethod: { type: 'ByNamespace' } })
  const flowOf = (path: string) => flowControl.classify(jane, get(path)).flow
  const [inA, alsoInA, inB] = ['a/pods/p', 'a/pods/q', 'b/pods/p'].map((each) => flowOf(`/api/v1/namespaces/${each}`))
  expect(alsoInA).toBe(inA)
  expect(inB).not.toBe(inA)
  expect(flowOf('/version')).not.toBe(flowControl.classify({ ...jane, name: 'joe' }, get('/version')).flow)
})

it('divides its seats among the levels, anew as these change, and gives them out', async () => {
  const nominal = (name: string) => flowControl.levels().find((each) => each.name === name)?.nominal
  expect([nominal('catch-all'), nominal('own')]).toEqual([3, undefined])
  await addLevel('own')
  // 50 of 245 and 50 shares.
  expect([nominal('catch-all'), nominal('own')]).toEqual([2, 17])
  expect(flowControl.limitsOf('own')).toEqual({ seats: 17, places: 1 })
  const requests = Array.from({ length: 100 }, () => ({ level: 'own', seats: 1, work: 1, flow: '', onSeat: () => {} }))
  const seated = requests.filter((each) => flowControl.request(each) === 'seated')
  expect(seated.length).toBeGreaterThan(16)
  expect(seated.length).toBeLessThan(100)
  const [first, late] = [seated[0], requests.find((each) => !seated.includes(each))]
  if (first === undefined || late === undefined) throw new Error('unreachable')
  flowControl.leave(first)
  expect(flowControl.request(late)).toBe('seated')
})

it('reads what is stored again only when it has changed', () => {
  const counts = { followed: 0, read: 0 }
  const changed: (() => void)[] = []
  const cache = {
    values: () => {
      counts.read++
      return []
    },
    onChange: (listener: () => void) => {
      counts.followed++
      changed.push(listener)
    },
  }
  const registries = { byStorageKey: () => ({ storage: { cache } }) } as unknown as TestCore['core']['registries']
  const alone = new FlowControl(registries, unwatched)
  for (let times = 0; times < 3; times++) alone.classify(jane, get('/version'))
  expect(counts).toEqual({ followed: 2, read: 2 })
  for (const listener of changed) listener()
  for (let times = 0; times < 3; times++) alone.classify(jane, get('/version'))
  expect(counts).toEqual({ followed: 2, read: 4 })
})
