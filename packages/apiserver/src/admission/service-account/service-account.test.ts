import { type Node, namespaces, nodes, type Pod, pods, type ServiceAccount, serviceAccounts } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { mirrorAnnotation } from '../../security/node-identity.ts'
import { createAccount, pod, refusal, startTestCore } from '../../testing/test-core.ts'
import { accountWaitMs } from './account-arrivals.ts'

const robot = (parts: Partial<ServiceAccount> = {}): ServiceAccount => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  ...parts,
  metadata: { namespace: 'default', name: 'robot', ...parts.metadata },
})

const notFound = (namespace: string, name: string) => ({
  code: 403,
  reason: 'Forbidden',
  message: `pods "a" is forbidden: error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`,
})

describe('the account of a pod', () => {
  it('is what it says', async () => {
    const { client } = await startTestCore()
    await client.create(serviceAccounts, robot())
    const { spec } = await client.create(pods, pod('a', {}, { serviceAccountName: 'robot' }))
    expect(spec).toMatchObject({ serviceAccountName: 'robot', serviceAccount: 'robot' })
  })

  it('has to be there', async () => {
    const { client } = await startTestCore()
    expect(await refusal(client.create(pods, pod('a', {}, { serviceAccountName: 'robot' })))).toEqual(
      notFound('default', 'robot'),
    )
    expect(
      (await refusal(client.create(pods, pod('', { generateName: 'web-' }, { serviceAccountName: 'robot' })))).message,
    ).toContain('pods "web-" is forbidden: error looking up')
  })

  describe('that a controller is yet to make', () => {
    const withNamespace = async () => {
      const test = await startTestCore()
      await test.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } })
      return test
    }

    it('is waited for, by all who need it', async () => {
      const { client, environment } = await withNamespace()
      const creations = ['a', 'b'].map((name) => client.create(pods, pod(name, { namespace: 'team' })))
      await environment.clock.advance(accountWaitMs - 1)
      await createAccount(client, 'default', 'team')
      const created = await Promise.all(creations)
      expect(created.map(({ spec }) => spec.serviceAccountName)).toEqual(['default', 'default'])
    })

    it('is waited for in its own namespace, and not for ever', async () => {
      const { client, environment } = await withNamespace()
      const refused = refusal(client.create(pods, pod('a', { namespace: 'team' })))
      await environment.clock.settle()
      await createAccount(client, 'default', 'kube-public')
      await environment.clock.advance(accountWaitMs)
      expect(await refused).toEqual(notFound('team', 'default'))
    })
  })

  it('says what images are pulled with, unless the pod does', async () => {
    const { client } = await startTestCore()
    const imagePullSecrets = [{ name: 'registry' }]
    await client.create(serviceAccounts, robot({ imagePullSecrets }))
    const pullSecretsOf = async (name: string, spec: object) =>
      (await client.create(pods, pod(name, {}, { serviceAccountName: 'robot', ...spec }))).spec.imagePullSecrets
    expect(await pullSecretsOf('a', {})).toEqual(imagePullSecrets)
    const own = [{ name: 'own' }]
    expect(await pullSecretsOf('b', { imagePullSecrets: own })).toEqual(own)
  })
})

describe('an account that limits secrets', () => {
  const limiting = (value = 'true') =>
    robot({
      metadata: { annotations: { 'kubernetes.io/enforce-mountable-secrets': value } },
      secrets: [{ name: 'known' }],
      imagePullSecrets: [{ name: 'registry' }],
    })
  const main = { name: 'main', image: 'i' }
  const env = (name: string) => [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name, key: 'k' } } }]
  const envFrom = (name: string) => [{ secretRef: { name } }]
  const volumes = (secretName: string) => [{ name: 'v', secret: { secretName } }]
  const create = async (spec: Partial<Pod['spec']>, account = limiting()) => {
    const { client } = await startTestCore()
    await client.create(serviceAccounts, account)
    return client.create(pods, pod('a', {}, { serviceAccountName: 'robot', ...spec }))
  }
  const via = (how: string) =>
    `${how} referencing secret.secretName="other" is not allowed because service account robot does not reference that secret`

  it.each<[string, Partial<Pod['spec']>, string]>([
    [
      'a volume',
      { volumes: volumes('other') },
      'volume with secret.secretName="other" is not allowed because service account robot does not reference that secret',
    ],
    ['a variable', { containers: [{ ...main, env: env('other') }] }, via('container main with envVar TOKEN')],
    ['variables', { containers: [{ ...main, envFrom: envFrom('other') }] }, via('container main with envFrom')],
    [
      'a variable of an init container',
      { initContainers: [{ name: 'first', image: 'i', env: env('other') }] },
      via('init container first with envVar TOKEN'),
    ],
    [
      'variables of an init container',
      { initContainers: [{ name: 'first', image: 'i', envFrom: envFrom('other') }] },
      via('init container first with envFrom'),
    ],
    [
      'images',
      { imagePullSecrets: [{ name: 'registry' }, { name: 'other' }] },
      'imagePullSecrets[1].name="other" is not allowed because service account robot does not reference that imagePullSecret',
    ],
  ])('refuses pods that name another for %s', async (_what, spec, why) => {
    expect((await refusal(create(spec))).message).toBe(`pods "a" is forbidden: ${why}`)
  })

  it('takes pods that name its own', async () => {
    await create({
      volumes: volumes('known'),
      containers: [{ ...main, env: env('known'), envFrom: envFrom('known') }],
      imagePullSecrets: [{ name: 'registry' }],
    })
  })

  it.each(['false', 'yes', ''])('has to say so: "%s" is not it', async (value) => {
    await create({ volumes: volumes('other') }, limiting(value))
  })

  it('limits those of containers for debugging, too', async () => {
    const { client } = await startTestCore()
    await client.create(serviceAccounts, limiting())
    await client.create(pods, pod('a', {}, { serviceAccountName: 'robot' }))
    const add = (name: string, container: object) =>
      client.patch(
        pods,
        { namespace: 'default', name: 'a' },
        { type: 'strategic', body: { spec: { ephemeralContainers: [{ name, image: 'i', ...container }] } } },
        { subresource: 'ephemeralcontainers' },
      )
    await add('one', { env: env('known') })
    expect((await refusal(add('two', { env: env('other') }))).message).toBe(
      `pods "a" is forbidden: ${via('ephemeral container two with envVar TOKEN')}`,
    )
    expect((await refusal(add('two', { envFrom: envFrom('other') }))).message).toBe(
      `pods "a" is forbidden: ${via('ephemeral container two with envFrom')}`,
    )
  })
})

describe('a mirror pod', () => {
  const mirror = (spec: Partial<Pod['spec']>) =>
    pod('a', { annotations: { [mirrorAnnotation]: 'hash' } }, { nodeName: 'n1', ...spec })

  it('gets no account', async () => {
    const { client } = await startTestCore()
    expect((await client.create(pods, mirror({ nodeName: 'n' }))).spec.serviceAccountName).toBeUndefined()
  })

  it.each<[Partial<Pod['spec']>, string]>([
    [{ serviceAccountName: 'default' }, 'a mirror pod may not reference service accounts'],
    [{ volumes: [{ name: 'v', secret: { secretName: 's' } }] }, 'a mirror pod may not reference secrets'],
    [
      { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }] },
      'a mirror pod may not use ServiceAccountToken volume projections',
    ],
  ])('names nothing of the API: %j', async (spec, why) => {
    const { client } = await startTestCore()
    expect((await refusal(client.create(pods, mirror(spec)))).message).toBe(`pods "a" is forbidden: ${why}`)
  })
})

const nodeStatus = (containerRuntimeVersion: string) =>
  ({ nodeInfo: { containerRuntimeVersion } }) as unknown as NonNullable<Node['status']>

describe('a token where client libraries look for it', () => {
  const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'
  const mountsOf = ({ spec }: Pod) =>
    [...(spec.initContainers ?? []), ...spec.containers].map(({ volumeMounts = [] }) =>
      volumeMounts.map((mount) => mount.mountPath),
    )
  const create = async (spec: Partial<Pod['spec']> = {}, account: Partial<ServiceAccount> = {}) => {
    const { client } = await startTestCore({ mountsTokens: true })
    await client.create(serviceAccounts, robot(account))
    return client.create(pods, pod('a', {}, { serviceAccountName: 'robot', ...spec }))
  }

  it('is in each container, in a volume that all share', async () => {
    const made = await create({ initContainers: [{ name: 'first', image: 'example/first' }] })
    expect(mountsOf(made)).toEqual([[mountPath], [mountPath]])
    const [volume] = made.spec.volumes ?? []
    expect(volume?.name).toMatch(/^kube-api-access-[a-z0-9]{5}$/)
    expect(volume?.projected?.sources).toMatchObject([
      { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt' } },
      { downwardAPI: { items: [{ path: 'namespace' }] } },
    ])
  })

  it('is not where pod or account do not want it, the pod before the account', async () => {
    expect((await create({ automountServiceAccountToken: false })).spec.volumes).toBeUndefined()
    expect((await create({}, { automountServiceAccountToken: false })).spec.volumes).toBeUndefined()
    const asked = await create({ automountServiceAccountToken: true }, { automountServiceAccountToken: false })
    expect(mountsOf(asked)).toEqual([[mountPath]])
  })

  it('leaves a container what it has there, and uses a volume of that name', async () => {
    const volumes = [{ name: 'kube-api-access-mine', emptyDir: {} }]
    const own = { name: 'own', image: 'example/own', volumeMounts: [{ name: 'kube-api-access-mine', mountPath }] }
    const made = await create({ volumes, containers: [own, { name: 'other', image: 'example/other' }] })
    expect(mountsOf(made)).toEqual([[mountPath], [mountPath]])
    expect(made.spec.volumes).toHaveLength(1)
    expect(made.spec.containers[1]?.volumeMounts?.[0]?.name).toBe('kube-api-access-mine')
    expect((await create({ volumes, containers: [own] })).spec.volumes).toHaveLength(1)
  })

  it('is there for as long as a node has containers with file systems of their own, where that decides', async () => {
    const { client } = await startTestCore({ mountsTokens: 'whereOfUse' })
    const volumesOf = async (name: string) => (await client.create(pods, pod(name))).spec.volumes?.length
    const join = (name: string, containerRuntimeVersion: string) =>
      client.create(nodes, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name },
        status: nodeStatus(containerRuntimeVersion),
      })
    expect(await volumesOf('first')).toBeUndefined()
    await join('process', 'process://0.1.0')
    await join('simulated', 'simulated://0.1.0')
    await join('new', '')
    expect(await volumesOf('second')).toBeUndefined()
    await join('isolating', 'containerd://2.0.0')
    expect(await volumesOf('third')).toBe(1)
    await client.delete(nodes, { name: 'isolating' })
    expect(await volumesOf('fourth')).toBeUndefined()
    await client.patch(
      nodes,
      { name: 'new' },
      { type: 'merge', body: { status: nodeStatus('cri-o://1.30.0') } },
      { subresource: 'status' },
    )
    expect(await volumesOf('fifth')).toBe(1)
  })

  it('is there on all nodes for those that may call the API: by an account of their own, or because they ask', async () => {
    const { client } = await startTestCore({ mountsTokens: 'whereOfUse' })
    await client.create(serviceAccounts, robot())
    await client.create(serviceAccounts, {
      ...robot({ metadata: { name: 'shy' } }),
      automountServiceAccountToken: false,
    })
    const volumesOf = async (name: string, spec: Partial<Pod['spec']>) =>
      (await client.create(pods, pod(name, {}, spec))).spec.volumes?.length ?? 0
    expect(await volumesOf('own', { serviceAccountName: 'robot' })).toBe(1)
    expect(await volumesOf('own-without', { serviceAccountName: 'robot', automountServiceAccountToken: false })).toBe(0)
    expect(await volumesOf('shy', { serviceAccountName: 'shy' })).toBe(0)
    expect(await volumesOf('asks', { automountServiceAccountToken: true })).toBe(1)
    expect(await volumesOf('default', {})).toBe(0)
    const body = { automountServiceAccountToken: true }
    await client.patch(serviceAccounts, { namespace: 'default', name: 'default' }, { type: 'merge', body })
    expect(await volumesOf('default-asks', {})).toBe(1)
  })

  it('is there from the start where such a node is stored already', async () => {
    const { client, store } = await startTestCore()
    const status = nodeStatus('containerd://2.0.0')
    await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'isolating' }, status })
    const later = await startTestCore({ store, mountsTokens: 'whereOfUse' })
    expect((await later.client.create(pods, pod('a'))).spec.volumes).toHaveLength(1)
  })

  it('is not there where the cluster does not mount tokens', async () => {
    const { client } = await startTestCore()
    expect((await client.create(pods, pod('a'))).spec.volumes).toBeUndefined()
  })
})
