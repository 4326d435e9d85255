import { type FlowSchema, flowSchemas, priorityLevelConfigurations } from '@coracle/api'
import { createMetricsRegistry, realClock } from '@coracle/environment'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AdmissionPlugin } from '../admission/admission.ts'
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
})
