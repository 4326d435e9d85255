import { EventEmitter } from 'node:events'
import { type FlowSchema, flowSchemas, priorityLevelConfigurations } from '@coracle/api'
import { createMetricsRegistry, realClock } from '@coracle/environment'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AdmissionPlugin } from '../admission/admission.ts'
import { startTestCore } from '../testing/test-core.ts'
import type { Exchange } from './exchange.ts'
import { FlowAdmission } from './flow-admission.ts'
import { routeOf } from './routes.ts'
import { adminToken, TestServer } from './testing/test-server.ts'

const path = '/api/v1/namespaces/default/configmaps'
const admin = { authorization: `Bearer ${adminToken}` }
const asUser = (name: string) => ({ headers: { ...admin, 'impersonate-user': name } })
const post = (name: string, user: string) => ({ ...asUser(user), method: 'POST', body: { metadata: { name } } })

/** Writes of config maps that wait until they are let go. */
class Gate {
  readonly held: (() => void)[] = []
  #isOpen = true
  #wake = () => {}

  readonly plugin: AdmissionPlugin = {
    name: 'Gate',
    mutate: ({ definition }, object) => {
      if (this.#isOpen || definition.plural !== 'configmaps') return object
      return new Promise((resolve) => {
        this.held.push(() => resolve(object))
        this.#wake()
      })
    },
  }

  close(): void {
    this.#isOpen = false
  }

  open(): void {
    this.#isOpen = true
    for (const go of this.held.splice(0)) go()
  }

  async until(count: number): Promise<void> {
    while (this.held.length < count) await new Promise<void>((resolve) => (this.#wake = resolve))
  }
}

describe('requests of those who may not do everything', () => {
  const gate = new Gate()
  const metrics = createMetricsRegistry()
  let server: TestServer

  beforeAll(async () => {
    server = await TestServer.start({ admission: [gate.plugin], metrics, authorizer: { refuse: () => undefined } })
    // The first request begins at once, and has flow control loaded for the others.
    const told = async () => (await server.call(path, asUser('jane'))).headers['x-kubernetes-pf-flowschema-uid']
    while ((await told()) === undefined) await new Promise<void>((resolve) => realClock.defer(resolve))
  })
  afterAll(() => server.close())

  const schema = (name: string, level: string, user: string) => ({
    metadata: { name },
    spec: {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence: 50,
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: user } }],
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }],
        },
      ],
    },
  })
  const create = (body: object) =>
    server.call('/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas', { method: 'POST', body })
  const uidOf = async (resource: typeof flowSchemas | typeof priorityLevelConfigurations, name: string) => {
    const { json } = await server.call(`/apis/flowcontrol.apiserver.k8s.io/v1/${resource.plural}/${name}`)
    return json.metadata.uid
  }

  it('are answered with the uids of the schema and the level that they went by', async () => {
    const before = await server.call(path, asUser('jane'))
    expect(before.headers['x-kubernetes-pf-flowschema-uid']).toBe(await uidOf(flowSchemas, 'global-default'))
    await create(schema('janes', 'workload-high', 'jane'))
    const { headers } = await server.call(path, asUser('jane'))
    expect(headers['x-kubernetes-pf-flowschema-uid']).toBe(await uidOf(flowSchemas, 'janes'))
    expect(headers['x-kubernetes-pf-prioritylevel-uid']).toBe(await uidOf(priorityLevelConfigurations, 'workload-high'))
  })

  it('follow schemas as they are changed', async () => {
    await create(schema('joes', 'workload-high', 'joe'))
    const patch = {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify({ spec: { priorityLevelConfiguration: { name: 'workload-low' } } }),
    }
    const { json } = await server.call('/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/joes', patch)
    expect((json as FlowSchema).spec?.priorityLevelConfiguration.name).toBe('workload-low')
    const { headers } = await server.call(path, asUser('joe'))
    expect(headers['x-kubernetes-pf-prioritylevel-uid']).toBe(await uidOf(priorityLevelConfigurations, 'workload-low'))
  })

  it('wait for a seat where they have to, and too many are refused; whoever may do everything never waits', async () => {
    const limited = {
      nominalConcurrencyShares: 1,
      borrowingLimitPercent: 0,
      limitResponse: { type: 'Queue', queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } },
    }
    await server.call('/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations', {
      method: 'POST',
      body: { metadata: { name: 'narrow' }, spec: { type: 'Limited', limited } },
    })
    await create(schema('narrows', 'narrow', 'flood'))
    const flowControl = await server.core.flowControl()
    const narrow = () => flowControl.levels().find(({ name }) => name === 'narrow')
    const seats = narrow()?.nominal ?? 0
    expect(seats).toBeGreaterThan(0)
    gate.close()
    const flood = Array.from({ length: seats }, (_, index) => server.call(path, post(`flood-${index}`, 'flood')))
    await gate.until(seats)
    const waits = server.call(path, post('waits', 'flood'))
    while (narrow()?.waiting !== 1) await new Promise<void>((resolve) => realClock.defer(resolve))
    const refused = await server.call(path, post('one-more', 'flood'))
    expect([refused.code, refused.headers['retry-after'], refused.json.reason]).toEqual([429, '1', 'TooManyRequests'])
    expect((await server.call(path)).code).toBe(200)
    expect((await server.call(path, asUser('jane'))).code).toBe(200)
    gate.open()
    expect((await Promise.all([...flood, waits])).map(({ code }) => code)).toEqual([...flood, waits].map(() => 201))
    expect((await server.call(path, post('one-more', 'flood'))).code).toBe(201)
    const text = await metrics.collected()
    const labels = 'priority_level="narrow",flow_schema="narrows"'
    expect(text).toContain(`apiserver_flowcontrol_current_executing_seats{${labels}} 0`)
    expect(text).toContain(`apiserver_flowcontrol_current_inqueue_requests{${labels}} 0`)
    expect(text).toContain(
      `apiserver_flowcontrol_request_execution_seconds_count{${labels},type="regular"} ${seats + 2}`,
    )
    expect(text).toContain(
      `apiserver_flowcontrol_request_wait_duration_seconds_count{${labels},execute="true"} ${seats + 2}`,
    )
    expect(text).toContain(`apiserver_flowcontrol_request_wait_duration_seconds_count{${labels},execute="false"} 1`)
    // For some of the time all seats were taken.
    const utilization =
      'apiserver_flowcontrol_priority_level_seat_utilization_bucket{phase="executing",priority_level="narrow"'
    const spent = (bound: string) => Number(text.split(`${utilization},le="${bound}"} `)[1]?.split('\n')[0])
    expect(spent('1')).toBeGreaterThan(spent('0.99'))
    expect(text).toContain(`apiserver_flowcontrol_rejected_requests_total{${labels},reason="queue-full"} 1`)
    expect(text).toContain(`apiserver_flowcontrol_dispatched_requests_total{${labels}} ${seats + 2}`)
  })

  it.each([
    ['POST', 'pods/x/exec?command=ls'],
    ['GET', 'pods/x/attach'],
    ['GET', 'pods/x/portforward'],
    ['GET', 'pods/x/log'],
    ['GET', 'services/x/proxy/'],
  ])('need no seat for what goes on for long: %s %s', async (method, what) => {
    await server.call(path, asUser('jane'))
    const { headers } = await server.call(`/api/v1/namespaces/default/${what}`, { ...asUser('jane'), method })
    expect(headers['x-kubernetes-pf-flowschema-uid']).toBeUndefined()
  })

  it('take several seats where they list much, and keep them for their watchers where these are many', async () => {
    await create(schema('anns', 'workload-high', 'ann'))
    const body = { metadata: { name: 'large' }, data: { text: 'x'.repeat(500_000) } }
    expect((await server.call(path, { method: 'POST', body })).code).toBe(201)
    const labels = 'priority_level="workload-high",flow_schema="anns"'
    const told = async (name: string) => {
      const line = `apiserver_flowcontrol_${name}{${labels}} `
      return Number((await metrics.collected()).split(line)[1]?.split('\n')[0])
    }
    const { json } = await server.call('/api/v1/configmaps', asUser('ann'))
    const seats = Math.ceil((JSON.stringify(json).length - 200) / 100_000)
    expect([seats, await told('work_estimated_seats_sum')]).toEqual([6, 6])
    const watches = await Promise.all(
      Array.from({ length: 10 }, () => server.lines(`${path}?watch=1&resourceVersion=1`)),
    )
    const clientWatches = () =>
      server.core.clientWatches.interestedIn({ group: '', plural: 'configmaps', namespace: 'default', name: '' })
    expect(clientWatches()).toBe(10)
    expect((await server.call(path, post('watched', 'ann'))).code).toBe(201)
    expect(await told('watch_count_samples_sum')).toBe(10)
    while ((await told('current_executing_seats')) > 0) await new Promise<void>((r) => realClock.defer(r))
    for (const watch of watches) watch.close()
    while (clientWatches() > 0) await new Promise<void>((resolve) => realClock.defer(resolve))
  })
})

it('what has been written keeps seats while its watchers are told', async () => {
  const { core, environment } = await startTestCore()
  const { clock } = environment
  const flowControl = await core.flowControl()
  const admission = new FlowAdmission(flowControl, clock, undefined)
  const watched = { group: '', plural: 'configmaps', namespace: '', name: '' }
  for (let index = 0; index < 25; index++) core.clientWatches.register(watched, '')
  const response = Object.assign(new EventEmitter(), { setHeader: () => {} })
  const exchange = { response, user: { name: 'jane', groups: [] }, query: new URLSearchParams() }
  const seated = () => flowControl.levels().reduce((sum, level) => sum + level.seated, 0)
  const begun: string[] = []
  admission.admit(
    exchange as unknown as Exchange,
    routeOf('POST', path, () => false),
    () => begun.push('a'),
    () => {},
  )
  expect([begun, seated()]).toEqual([['a'], 3])
  response.emit('close')
  await clock.advance(4)
  expect(seated()).toBe(3)
  await clock.advance(1)
  expect(seated()).toBe(0)
})
