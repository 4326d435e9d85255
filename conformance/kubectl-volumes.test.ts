import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Kubectl, rows } from './support/kubectl.ts'
import { Program } from './support/program.ts'

let program: Program
let namespaces = 0
const inNewNamespace = () => Kubectl.inNewNamespace(program, `volumes-${namespaces++}`)

beforeAll(async () => {
  program = await Program.start({ args: ['--memory'] })
})
afterAll(() => program[Symbol.asyncDispose]())

const claim = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
})

const writer = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'writer' },
  spec: {
    restartPolicy: 'Never',
    containers: [
      {
        name: 'main',
        image: 'sh',
        command: ['sh', '-c', 'echo kept >data/file && cat data/file'],
        volumeMounts: [{ name: 'data', mountPath: 'data' }],
      },
    ],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
  },
}

describe('kubectl', () => {
  it('shows the default storage class', async () => {
    const kubectl = await inNewNamespace()
    expect(rows(await kubectl.ok(['get', 'sc']))).toMatchObject([
      ['NAME', 'PROVISIONER', 'RECLAIMPOLICY', 'VOLUMEBINDINGMODE', 'ALLOWVOLUMEEXPANSION', 'AGE'],
      ['local-path (default)', 'coracle.dev/local-path', 'Delete', 'WaitForFirstConsumer', 'false', expect.any(String)],
    ])
    expect(await kubectl.ok(['describe', 'sc', 'local-path'])).toMatch(/^IsDefaultClass:\s+Yes$/m)
  })

  it('shows a claim that waits, and the volume that it gets with its pod', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.ok(['create', '-f', '-'], { input: JSON.stringify(claim('data')) })
    await kubectl.ok(['wait', '--for=jsonpath={.status.phase}=Pending', 'pvc/data', '--timeout=50s'])
    await expect
      .poll(() => kubectl.ok(['describe', 'pvc', 'data']))
      .toMatch(
        /Normal\s+WaitForFirstConsumer\s+.*persistentvolume-controller\s+waiting for first consumer to be created before binding/,
      )
    await kubectl.ok(['create', '-f', '-'], { input: JSON.stringify(writer) })
    await kubectl.ok(['wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/writer', '--timeout=60s'])
    expect(await kubectl.ok(['logs', 'writer'])).toBe('kept\n')

    const name = await kubectl.ok(['get', 'pvc', 'data', '-o', 'jsonpath={.spec.volumeName}'])
    expect(rows(await kubectl.ok(['get', 'pvc']))).toMatchObject([
      ['NAME', 'STATUS', 'VOLUME', 'CAPACITY', 'ACCESS MODES', 'STORAGECLASS', 'VOLUMEATTRIBUTESCLASS', 'AGE'],
      ['data', 'Bound', name, '1Gi', 'RWO', 'local-path', '<unset>', expect.any(String)],
    ])
    const described = await kubectl.ok(['describe', 'pvc', 'data'])
    expect(described).toMatch(/^Used By:\s+writer$/m)
    expect(described).toMatch(/Normal\s+ProvisioningSucceeded\s+.*Successfully provisioned volume pvc-/)
    const volume = await kubectl.ok(['describe', 'pv', name])
    expect(volume).toMatch(/^Claim:\s+volumes-\d+\/data$/m)
    expect(volume).toMatch(/Type:\s+LocalVolume \(a persistent volume backed by local storage on a node\)/)
    expect(volume).toMatch(/kubernetes.io\/hostname in \[node-0\]/)

    await kubectl.ok(['delete', 'pod/writer', 'pvc/data'])
    await expect.poll(() => kubectl.ok(['get', 'pv', '-o', 'name'])).toBe('')
  })

  it('says why a volume cannot be had', async () => {
    const kubectl = await inNewNamespace()
    const mine = claim('mine', { storageClassName: 'nothing' })
    await kubectl.ok(['create', '-f', '-'], { input: JSON.stringify(mine) })
    await expect
      .poll(() => kubectl.ok(['describe', 'pvc', 'mine']))
      .toMatch(/Warning\s+ProvisioningFailed\s+.*storageclass.storage.k8s.io "nothing" not found/)
  })
})
