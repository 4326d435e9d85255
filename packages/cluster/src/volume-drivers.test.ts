import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Node, nodes, type PersistentVolume, type Pod } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { expect, it, onTestFinished } from 'vitest'
import { volumesOfNode } from './volume-drivers.ts'

const volume: PersistentVolume = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'pv' },
  spec: { csi: { driver: 'disks.example.com', volumeHandle: 'h' } },
}
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'uid' },
  spec: { containers: [] },
}

async function start() {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  await client.create<Node>(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, spec: {} })
  const rootDirectory = mkdtempSync(join(tmpdir(), 'coracle-volumes-'))
  const { volumeDrivers: drivers } = volumesOfNode({
    client,
    environment,
    nodeName: 'n',
    rootDirectory,
    isolates: true,
  })
  if (drivers === undefined) throw new Error('a node of real containers without drivers of volumes')
  onTestFinished(async () => {
    await drivers.stop({ unmounts: false })
    rmSync(rootDirectory, { recursive: true, force: true })
  })
  await drivers.start(new AbortController().signal)
  const mount = () => drivers.mount(pod, { name: 'v', persistentVolumeClaim: { claimName: 'c' } }, volume)
  return { environment, client, drivers, mount, rootDirectory }
}

it('forgets with a pod for how long it has waited for its volumes', async () => {
  const { environment, drivers, mount } = await start()
  expect(await mount()).toMatchObject({ isWaiting: true })
  await environment.clock.advance('3m')
  expect(await mount()).toMatchObject({ isWaiting: false })
  await drivers.unmount('uid')
  expect(await mount()).toMatchObject({ isWaiting: true })
})

it('starts on no root directory that has pods of another node agent', async () => {
  const { environment, client, rootDirectory } = await start()
  mkdirSync(join(rootDirectory, 'pods', 'uid'), { recursive: true })
  const options = { client, environment, nodeName: 'n', rootDirectory, owner: 'n in /data', isolates: false }
  const { volumeDrivers, claimedDevices } = volumesOfNode(options)
  // Nobody can give processes devices.
  expect(claimedDevices).toBeUndefined()
  await expect(volumeDrivers?.start(new AbortController().signal)).rejects.toThrow('has pods of another node agent')
})

it('stops also where what looks after drivers cannot be started', async () => {
  const { drivers, mount, rootDirectory } = await start()
  rmSync(rootDirectory, { recursive: true })
  const failed = expect(mount()).rejects.toThrow(/ENOENT/)
  await drivers.stop({ unmounts: true })
  await failed
})

it('looks for devices that pods claim where there may be some', async () => {
  const { environment, client, rootDirectory } = await start()
  const nodeOf = () =>
    volumesOfNode({ client, environment, nodeName: 'n', rootDirectory, isolates: true }).claimedDevices
  await nodeOf()?.unprepare('uid')
  expect(await nodeOf()?.podUids()).toEqual([])
  const claim = { namespace: 'default', name: 'training', uid: 'claim', podUids: ['uid'], devices: {} }
  writeFileSync(join(rootDirectory, 'claimed-devices.json'), JSON.stringify({ claims: [claim] }))
  expect(await nodeOf()?.podUids()).toEqual(['uid'])
})
