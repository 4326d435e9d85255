import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AnyObject, type EventObject, Kubectl, manifest, type PodObject, rows } from './support/kubectl.ts'
import { eventually, Program } from './support/program.ts'

let program: Program
let namespaces = 0
const inNewNamespace = () => Kubectl.inNewNamespace(program, `rollout-${namespaces++}`)

beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated', '--nodes', '2'] })
})
afterAll(() => program[Symbol.asyncDispose]())

interface DeploymentObject extends AnyObject {
  readonly spec: { readonly replicas: number; readonly paused?: boolean }
  readonly status: { readonly availableReplicas?: number; readonly updatedReplicas?: number }
}

const deployment = (name: string, replicas: number, image = 'example/web:1'): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, labels: { app: name } },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'web', image }] } },
  },
})

/** A deployment `web` whose first rollout is over. */
async function started(kubectl: Kubectl, replicas: number): Promise<void> {
  await kubectl.ok(['create', '-f', '-'], { input: manifest(deployment('web', replicas)) })
  await kubectl.ok(['rollout', 'status', 'deployment/web', '--timeout=50s'])
}

const get = async (kubectl: Kubectl): Promise<DeploymentObject> =>
  JSON.parse(await kubectl.ok(['get', 'deployment', 'web', '-o', 'json']))

const images = async (kubectl: Kubectl) =>
  (await kubectl.list<PodObject>('pods'))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ spec }) => spec.containers[0]?.image)

async function setImage(kubectl: Kubectl, image: string): Promise<void> {
  expect(await kubectl.ok(['set', 'image', 'deployment/web', `web=${image}`])).toBe(
    'deployment.apps/web image updated\n',
  )
  await kubectl.ok(['rollout', 'status', 'deployment/web', '--timeout=50s'])
}

describe('kubectl rollout', () => {
  it('status follows a rollout to its end', async () => {
    const kubectl = await inNewNamespace()
    await started(kubectl, 3)
    await kubectl.ok(['set', 'image', 'deployment/web', 'web=example/web:2'])
    const told = await kubectl.ok(['rollout', 'status', 'deployment/web', '--timeout=50s'])
    expect(told.trimEnd().split('\n').at(-1)).toBe('deployment "web" successfully rolled out')
    expect(await images(kubectl)).toEqual(Array.from({ length: 3 }, () => 'example/web:2'))
  })

  it('status tells of a rollout that has run out of time', async () => {
    const kubectl = await inNewNamespace()
    await started(kubectl, 1)
    const patch = { spec: { progressDeadlineSeconds: 1, template: { spec: { nodeSelector: { disk: 'none' } } } } }
    await kubectl.ok(['patch', 'deployment', 'web', '-p', JSON.stringify(patch)])
    const { code, stderr } = await kubectl.run(['rollout', 'status', 'deployment/web', '--timeout=50s'])
    expect(code).toBe(1)
    expect(stderr).toBe('error: deployment "web" exceeded its progress deadline\n')
  })

  it('history lists the revisions with their causes, and shows one', async () => {
    const kubectl = await inNewNamespace()
    await started(kubectl, 1)
    const cause = (text: string) =>
      kubectl.ok(['annotate', 'deployment/web', '--overwrite', `kubernetes.io/change-cause=${text}`])
    await cause('first')
    // The ReplicaSet has to have it before there is another.
    await eventually('the cause of the first', async () =>
      (await kubectl.ok(['rollout', 'history', 'deployment/web'])).includes('first'),
    )
    await setImage(kubectl, 'example/web:2')
    await cause('second')
    await eventually('the cause of the second', async () =>
      (await kubectl.ok(['rollout', 'history', 'deployment/web'])).includes('second'),
    )
    expect(rows(await kubectl.ok(['rollout', 'history', 'deployment/web'])).slice(1)).toEqual([
      ['REVISION', 'CHANGE-CAUSE'],
      ['1', 'first'],
      ['2', 'second'],
    ])
    const shown = await kubectl.ok(['rollout', 'history', 'deployment/web', '--revision=1'])
    expect(shown).toContain('deployment.apps/web with revision #1')
    expect(shown).toContain('Image:\texample/web:1')
  })

  it('undo goes back to the revision before, or to one that is named', async () => {
    const kubectl = await inNewNamespace()
    await started(kubectl, 2)
    await setImage(kubectl, 'example/web:2')
    await setImage(kubectl, 'example/web:3')
    expect(await kubectl.ok(['rollout', 'undo', 'deployment/web'])).toBe('deployment.apps/web rolled back\n')
    await kubectl.ok(['rollout', 'status', 'deployment/web', '--timeout=50s'])
    expect(await images(kubectl)).toEqual(['example/web:2', 'example/web:2'])
    await kubectl.ok(['rollout', 'undo', 'deployment/web', '--to-revision=1'])
    await kubectl.ok(['rollout', 'status', 'deployment/web', '--timeout=50s'])
    expect(await images(kubectl)).toEqual(['example/web:1', 'example/web:1'])
    const revisions = rows(await kubectl.ok(['rollout', 'history', 'deployment/web'])).slice(2)
    expect(revisions.map(([revision]) => revision)).toEqual(['3', '4', '5'])
    const missing = await kubectl.run(['rollout', 'undo', 'deployment/web', '--to-revision=9'])
    expect(missing.stderr).toBe('error: unable to find specified revision 9 in history\n')
  })

  it('pause holds a change back until resume', async () => {
    const kubectl = await inNewNamespace()
    await started(kubectl, 2)
    expect(await kubectl.ok(['rollout', 'pause', 'deployment/web'])).toBe('deployment.apps/web paused\n')
    await kubectl.ok(['set', 'image', 'deployment/web', 'web=example/web:2'])
    await kubectl.ok(['scale', 'deployment/web', '--replicas=3'])
    await eventually('the new size', async () => (await get(kubectl)).status.availableReplicas === 3)
    expect(await images(kubectl)).toEqual(Array.from({ length: 3 }, () => 'example/web:1'))
    expect(await kubectl.ok(['rollout', 'resume', 'deployment/web'])).toBe('deployment.apps/web resumed\n')
    await kubectl.ok(['rollout', 'status', 'deployment/web', '--timeout=50s'])
    expect(await images(kubectl)).toEqual(Array.from({ length: 3 }, () => 'example/web:2'))
  })

  it('restart replaces all pods', async () => {
    const kubectl = await inNewNamespace()
    await started(kubectl, 2)
    const before = (await kubectl.list('pods')).map(({ metadata }) => metadata.uid)
    expect(await kubectl.ok(['rollout', 'restart', 'deployment/web'])).toBe('deployment.apps/web restarted\n')
    await kubectl.ok(['rollout', 'status', 'deployment/web', '--timeout=50s'])
    const after = await eventually('only new pods', async () => {
      const found = await kubectl.list('pods')
      return found.length === 2 && found
    })
    for (const { metadata } of after) expect(before).not.toContain(metadata.uid)
  })
})

describe('a deployment', () => {
  it('is made, shown, scaled and deleted by kubectl', async () => {
    const kubectl = await inNewNamespace()
    expect(await kubectl.ok(['create', 'deployment', 'web', '--image=example/web:1', '--replicas=2'])).toBe(
      'deployment.apps/web created\n',
    )
    await kubectl.ok(['rollout', 'status', 'deployment/web', '--timeout=50s'])
    const [heading, shown] = rows(await kubectl.ok(['get', 'deployment', '-o', 'wide']))
    expect(heading).toEqual(['NAME', 'READY', 'UP-TO-DATE', 'AVAILABLE', 'AGE', 'CONTAINERS', 'IMAGES', 'SELECTOR'])
    expect(shown).toEqual(['web', '2/2', '2', '2', expect.any(String), 'web', 'example/web:1', 'app=web'])
    const [, set] = rows(await kubectl.ok(['get', 'rs']))
    expect(set).toEqual([expect.stringMatching(/^web-[a-z0-9]+$/), '2', '2', '2', expect.any(String)])

    expect(await kubectl.ok(['scale', 'deployment', 'web', '--replicas=4'])).toBe('deployment.apps/web scaled\n')
    await kubectl.ok(['wait', 'deployment/web', '--for=jsonpath={.status.availableReplicas}=4', '--timeout=50s'])
    const described = await kubectl.ok(['describe', 'deployment', 'web'])
    expect(described).toContain('4 desired | 4 updated | 4 total | 4 available | 0 unavailable')
    expect(described).toMatch(/Progressing +True +NewReplicaSetAvailable/)
    expect(described).toMatch(/ScalingReplicaSet .*Scaled up replica set web-\w+ from 2 to 4/)

    expect(await kubectl.ok(['delete', 'deployment', 'web'])).toMatch(/^deployment.apps "web" deleted/)
    await eventually('nothing is left', async () => (await kubectl.list('pods')).length === 0)
    expect(await kubectl.ok(['get', 'rs', '-o', 'name'])).toBe('')
  })

  it('is exposed by a Service over its pods', async () => {
    const kubectl = await inNewNamespace()
    await started(kubectl, 1)
    expect(await kubectl.ok(['expose', 'deployment', 'web', '--port=80', '--target-port=8080'])).toBe(
      'service/web exposed\n',
    )
    const service = JSON.parse(await kubectl.ok(['get', 'service', 'web', '-o', 'json']))
    expect(service.spec).toMatchObject({
      selector: { app: 'web' },
      ports: [{ port: 80, protocol: 'TCP', targetPort: 8080 }],
    })
  })

  it('waits for a size that others set', async () => {
    const kubectl = await inNewNamespace()
    await started(kubectl, 1)
    const refused = await kubectl.run(['scale', 'deployment/web', '--current-replicas=5', '--replicas=2'])
    expect(refused.code).toBe(1)
    expect((await get(kubectl)).spec.replicas).toBe(1)
  })

  it('tells what it does by events', async () => {
    const kubectl = await inNewNamespace()
    await started(kubectl, 1)
    const told = async () =>
      (await kubectl.list<EventObject>('events')).map(
        ({ involvedObject, reason }) => `${involvedObject.kind} ${reason}`,
      )
    await expect.poll(told).toContain('Deployment ScalingReplicaSet')
    await expect.poll(told).toContain('ReplicaSet SuccessfulCreate')
  })
})
