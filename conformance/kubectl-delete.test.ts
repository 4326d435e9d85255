import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configMap, controller, Kubectl, manifest, type PodObject, pod, uids } from './support/kubectl.ts'
import { eventually, Program } from './support/program.ts'

let program: Program
let namespaces = 0
const inNewNamespace = () => Kubectl.inNewNamespace(program, `deleting-${namespaces++}`)

beforeAll(async () => {
  program = await Program.start({
    args: ['--memory', '--runtime', 'simulated', '--run-time', 'forever', '--nodes', '2'],
  })
})
afterAll(() => program[Symbol.asyncDispose]())

/** A controller `web` with two pods. */
async function withController(): Promise<{ readonly kubectl: Kubectl; readonly pods: readonly PodObject[] }> {
  const kubectl = await inNewNamespace()
  await kubectl.create('replicationcontrollers', controller('web', 2))
  await kubectl.waitForReplicas('web', 2)
  return { kubectl, pods: await kubectl.list<PodObject>('pods') }
}

/** What there is, but for what every namespace has. */
const names = async (kubectl: Kubectl, resource: 'configmaps' | 'pods') =>
  (await kubectl.list(resource)).map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt')

const removeFinalizers = ['--type=json', '-p', '[{"op":"remove","path":"/metadata/finalizers"}]']

describe('delete', () => {
  it('deletes by name, by label, and everything of a kind', async () => {
    const kubectl = await inNewNamespace()
    const labelled = (name: string, tier: string) => configMap(name, {}, { labels: { tier } })
    const all = [labelled('a', 'front'), labelled('b', 'front'), labelled('c', 'back'), configMap('d', {})]
    await kubectl.create('configmaps', ...all, configMap('e', {}))
    const gone = (name: string) => `configmap "${name}" deleted from ${kubectl.namespace} namespace\n`
    expect(await kubectl.ok(['delete', 'configmap', 'c', 'd'])).toBe(gone('c') + gone('d'))
    expect(await kubectl.ok(['delete', 'cm', '-l', 'tier in (front,back)'])).toBe(gone('a') + gone('b'))
    expect(await names(kubectl, 'configmaps')).toEqual(['e'])
    expect(await kubectl.ok(['delete', 'cm', '--all'])).toMatch(gone('e'))
    expect(await names(kubectl, 'configmaps')).toEqual([])
  })

  it('fails for what is not there, unless that is all right', async () => {
    const kubectl = await inNewNamespace()
    expect(await kubectl.run(['delete', 'cm', 'nobody'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Error from server (NotFound): configmaps "nobody" not found\n',
    })
    expect(await kubectl.run(['delete', 'cm', 'nobody', '--ignore-not-found'])).toMatchObject({ code: 0, stdout: '' })
    expect(await kubectl.run(['delete', 'cm', '-l', 'a=b'])).toMatchObject({ code: 0, stdout: 'No resources found\n' })
  })

  it('changes nothing in a dry run', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.create('configmaps', configMap('kept', {}))
    expect(await kubectl.ok(['delete', 'cm', 'kept', '--dry-run=server'])).toMatch(
      / deleted from deleting-\d+ namespace \(server dry run\)\n$/,
    )
    expect((await kubectl.get('configmaps', 'kept')).metadata.deletionTimestamp).toBeUndefined()
  })

  it('takes a pod away at once with --grace-period=0 --force, with a warning', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.create('pods', pod('stuck'))
    const { code, stdout, stderr } = await kubectl.run(['delete', 'pod', 'stuck', '--grace-period=0', '--force'])
    expect(code).toBe(0)
    expect(stdout).toBe(`pod "stuck" force deleted from ${kubectl.namespace} namespace\n`)
    expect(stderr).toMatch(/^Warning: Immediate deletion does not wait for confirmation/)
    expect(await names(kubectl, 'pods')).toEqual([])
  })

  it('gives a pod without a node no grace period: nothing runs that could use it', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.create('pods', pod('nowhere', { finalizers: ['example.com/hold'] }, { nodeSelector: { no: 'node' } }))
    await kubectl.ok(['delete', 'pod', 'nowhere', '--wait=false', '--grace-period=7'])
    expect((await kubectl.get('pods', 'nowhere')).metadata).toMatchObject({ deletionGracePeriodSeconds: 0 })
    await kubectl.ok(['patch', 'pod', 'nowhere', ...removeFinalizers])
    expect(await kubectl.exists('pods', 'nowhere')).toBe(false)
  })
})

describe('finalizers', () => {
  it('hold an object back until the last of them is removed', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.create('configmaps', configMap('held', { a: '1' }, { finalizers: ['example.com/hold'] }))
    const deleted = await kubectl.ok(['delete', 'cm', 'held', '--wait=false'])
    expect(deleted).toBe(`configmap "held" deleted from ${kubectl.namespace} namespace\n`)
    const { metadata, data } = await kubectl.get('configmaps', 'held')
    expect(metadata.deletionTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    expect(data).toEqual({ a: '1' })
    expect(await kubectl.ok(['patch', 'cm', 'held', ...removeFinalizers])).toBe('configmap/held patched\n')
    expect(await kubectl.exists('configmaps', 'held')).toBe(false)
  })

  it('cannot be added to an object that is being deleted', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.create('configmaps', configMap('held', {}, { finalizers: ['example.com/hold'] }))
    await kubectl.ok(['delete', 'cm', 'held', '--wait=false'])
    const more = '{"metadata":{"finalizers":["example.com/hold","example.com/more"]}}'
    const { code, stderr } = await kubectl.run(['patch', 'cm', 'held', '--type=merge', '-p', more])
    expect(code).toBe(1)
    expect(stderr).toContain(
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted',
    )
    await kubectl.ok(['patch', 'cm', 'held', ...removeFinalizers])
  })

  it('make delete wait, until they are gone', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.create('configmaps', configMap('held', {}, { finalizers: ['example.com/hold'] }))
    const deleting = kubectl.run(['delete', 'cm', 'held'])
    await eventually(
      'its deletion',
      async () => (await kubectl.get('configmaps', 'held')).metadata.deletionTimestamp !== undefined,
    )
    await kubectl.ok(['patch', 'cm', 'held', ...removeFinalizers])
    expect(await deleting).toMatchObject({ code: 0 })
  })
})

describe('delete --cascade', () => {
  it('background: the owner goes at once, its pods after it', async () => {
    const { kubectl } = await withController()
    await kubectl.ok(['delete', 'rc', 'web'])
    expect(await kubectl.exists('replicationcontrollers', 'web')).toBe(false)
    await eventually('the end of its pods', async () => (await names(kubectl, 'pods')).length === 0)
  })

  it('orphan: the pods stay, without an owner', async () => {
    const { kubectl, pods } = await withController()
    await kubectl.ok(['delete', 'rc', 'web', '--cascade=orphan'])
    expect(await kubectl.exists('replicationcontrollers', 'web')).toBe(false)
    const left = await kubectl.list<PodObject>('pods')
    expect(uids(left)).toEqual(uids(pods))
    for (const { metadata, status } of left) {
      expect(metadata.ownerReferences).toBeUndefined()
      expect(status.phase).toBe('Running')
    }
  })

  it('foreground: the owner stays until its pods are gone', async () => {
    const { kubectl, pods } = await withController()
    const [held] = pods.map(({ metadata }) => metadata.name)
    if (held === undefined) throw new Error('no pod')
    await kubectl.ok(['patch', 'pod', held, '-p', '{"metadata":{"finalizers":["example.com/hold"]}}'])
    await kubectl.ok(['delete', 'rc', 'web', '--cascade=foreground', '--wait=false'])
    await eventually('one pod left', async () => (await names(kubectl, 'pods')).join() === held)
    const { metadata } = await kubectl.get('replicationcontrollers', 'web')
    expect(metadata.finalizers).toEqual(['foregroundDeletion'])
    expect(metadata.deletionTimestamp).toBeDefined()
    await kubectl.ok(['patch', 'pod', held, ...removeFinalizers])
    await kubectl.ok(['wait', '--for=delete', 'rc/web', '--timeout=50s'])
    expect(await names(kubectl, 'pods')).toEqual([])
  })

  it('follows owners of every kind, and keeps what another owner still holds', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.create('configmaps', configMap('first', {}), configMap('second', {}))
    const ownerReferences = (await kubectl.list('configmaps'))
      .filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
      .map(({ metadata: { name, uid } }) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid }))
    await kubectl.create('secrets', { metadata: { name: 'owned', ownerReferences } })
    await kubectl.ok(['delete', 'cm', 'first'])
    await eventually('one owner left', async () => {
      const { metadata } = await kubectl.get('secrets', 'owned')
      return metadata.ownerReferences?.map(({ name }) => name).join() === 'second'
    })
    await kubectl.ok(['delete', 'cm', 'second'])
    await kubectl.ok(['wait', '--for=delete', 'secret/owned', '--timeout=50s'])
  })
})

describe('delete namespace', () => {
  it('empties it, and then it is gone', async () => {
    const { kubectl } = await withController()
    const { namespace } = kubectl
    await kubectl.create('configmaps', configMap('settings', { a: '1' }))
    expect(await program.kubectlOk(['delete', 'namespace', namespace])).toBe(`namespace "${namespace}" deleted\n`)
    for (const kind of ['pods', 'rc', 'cm', 'serviceaccounts', 'events']) {
      expect(await program.kubectlOk(['get', kind, '-n', namespace, '-o', 'name'])).toBe('')
    }
    const { stderr } = await program.kubectl(['get', 'namespace', namespace])
    expect(stderr).toBe(`Error from server (NotFound): namespaces "${namespace}" not found\n`)
  })

  it('waits for finalizers in it, takes nothing new meanwhile, and says what it waits for', async () => {
    const kubectl = await inNewNamespace()
    const { namespace } = kubectl
    await kubectl.create('configmaps', configMap('held', {}, { finalizers: ['example.com/hold'] }))
    await program.kubectlOk(['delete', 'namespace', namespace, '--wait=false'])
    const condition = '{.status.conditions[?(@.type=="NamespaceFinalizersRemaining")].message}'
    await eventually('a condition', async () => {
      const message = await program.kubectlOk(['get', 'namespace', namespace, '-o', `jsonpath=${condition}`])
      return message.includes('example.com/hold in 1 resource instances')
    })
    expect(await program.kubectlOk(['get', 'namespace', namespace])).toMatch(new RegExp(`${namespace} +Terminating`))
    const { code, stderr } = await kubectl.run(['create', '-f', '-'], { input: manifest(configMap('late', {})) })
    expect(code).toBe(1)
    expect(stderr).toContain(
      `configmaps "late" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
    )
    await kubectl.ok(['patch', 'cm', 'held', ...removeFinalizers])
    await program.kubectlOk(['wait', '--for=delete', `namespace/${namespace}`, '--timeout=50s'])
  })

  it('refuses to delete the namespaces that everything relies on', async () => {
    const { code, stderr } = await program.kubectl(['delete', 'namespace', 'default'])
    expect(code).toBe(1)
    expect(stderr).toBe(
      'Error from server (Forbidden): namespaces "default" is forbidden: this namespace may not be deleted\n',
    )
  })
})
