import {
  cronJobs,
  deployments,
  events,
  jobs,
  type KubernetesObject,
  leases,
  type PodTemplateSpec,
  type Resource,
  services,
} from '@coracle/api'
import { type Interceptor, interceptClient } from '@coracle/client'
import { virtualEnvironment } from '@coracle/environment'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ComponentSeams, startCluster } from '../src/index.ts'
import { endingTasks } from '../src/simulated.ts'

const namespace = 'default'
const labels = { app: 'web' }
const template = (restartPolicy: string): PodTemplateSpec =>
  ({ metadata: { labels }, spec: { restartPolicy, containers: [{ name: 'main', image: 'example/main' }] } }) as never

/** A cluster that tells what is written, by resource: leases apart, which nodes renew whatever happens. */
async function startCounting() {
  const environment = virtualEnvironment({ seed: 3 })
  const { clock } = environment
  const store = createMemoryStore()
  const refused: string[] = []
  const seams: ComponentSeams = {
    client: (component, client) =>
      component.startsWith('node') ? interceptClient(() => client, notingRefusals(refused)) : client,
  }
  const cluster = await startCluster({ environment, store, nodes: 4, behaviour: endingTasks(5_000), seams })
  onTestFinished(() => cluster.stop())
  await clock.settle()
  // Leases that are not there yet.
  refused.splice(0)
  let counts = new Map<string, number>()
  const watch = store.watch('/registry/', {
    after: store.latest(),
    onEvents: (changes) => {
      for (const { type, key } of changes) {
        const resource = key.split('/')[3] ?? ''
        if (resource === leases.plural || resource === 'nodes') continue
        const what = type === 'put' ? resource : `${resource} deleted`
        counts.set(what, (counts.get(what) ?? 0) + 1)
      }
    },
    onGap: (error) => expect.unreachable(error.message),
    onEnd: () => {},
  })
  onTestFinished(() => watch.close())
  const written = (): Readonly<Record<string, number>> => {
    const seen = counts
    counts = new Map()
    return Object.fromEntries(seen)
  }
  const create = (resource: Resource, name: string, spec: object) =>
    cluster.client.create(resource, {
      apiVersion: resource.group === '' ? resource.version : `${resource.group}/${resource.version}`,
      kind: resource.kind,
      metadata: { name, namespace },
      spec,
    } as KubernetesObject)
  return { cluster, clock, create, written, refused }
}

const notingRefusals = (refused: string[]): Interceptor => ({
  async call({ verb, resource, subresource }, proceed) {
    try {
      return await proceed()
    } catch (error) {
      refused.push(`${verb} ${resource.plural} ${subresource}: ${error}`)
      throw error
    }
  },
})

/** Every write is a transaction, an event for all who watch and a look for whoever is concerned: there are as many as upstream makes, or fewer. */
describe('what is written', () => {
  it('for a Deployment of one pod with a Service, until it is available', async () => {
    const { clock, create, written } = await startCounting()
    await create(deployments, 'web', { replicas: 1, selector: { matchLabels: labels }, template: template('Always') })
    await create(services, 'web', { selector: labels, ports: [{ port: 80 }] })
    await clock.settle()
    expect(written()).toEqual({
      // Made; its ReplicaSet is there; that has a pod; the pod is available.
      deployments: 4,
      // Made; it has a pod; the pod is available.
      replicasets: 3,
      // Made, bound, running.
      pods: 3,
      // Scaled, created, scheduled.
      events: 3,
      services: 1,
      ipaddresses: 1,
      // Without the pod, and with it.
      endpoints: 2,
      endpointslices: 2,
    })
  })

  it('for each run of a CronJob', async () => {
    const { cluster, clock, create, written, refused } = await startCounting()
    const jobTemplate = { spec: { template: template('OnFailure') } }
    await create(cronJobs, 'beat', { schedule: '*/1 * * * *', jobTemplate })
    // So many runs that there are Jobs to delete, and that no more events are made of them than are allowed.
    await clock.advance('12m')
    written()
    await clock.advance('1m')
    const { events: told = 0, 'events deleted': _expired, ...others } = written()
    expect(others).toEqual({
      // The Job is active, and over.
      cronjobs: 2,
      // Made; its pod is there, is ready, has ended, and is counted.
      jobs: 5,
      // Made, bound, running, ended, let go; and one that goes is marked before.
      pods: 6,
      'jobs deleted': 1,
      'pods deleted': 1,
    })
    // Nor does a node ask for what cannot be had any more, such as a status of a pod that goes.
    expect(refused).toEqual([])
    // That the pod was made, was scheduled and has ended; now and then something of the CronJob itself.
    expect(told).toBeLessThanOrEqual(5)
    expect((await cluster.client.list(events, { namespace })).items.length).toBeLessThan(400)
  })

  it.each([150, 300])('for each of %i completions of a Job, half of which run at a time', async (completions) => {
    const { clock, create, written } = await startCounting()
    await create(jobs, 'sum', { completions, parallelism: completions / 2, template: template('Never') })
    await clock.advance('1m')
    const { jobs: ofJob = 0, pods = 0, events: told = 0 } = written()
    // Made, bound, running, ended, let go.
    expect(pods).toBe(5 * completions)
    expect(ofJob).toBeLessThanOrEqual(40)
    expect(told).toBeLessThanOrEqual(completions + 40)
  })
})
