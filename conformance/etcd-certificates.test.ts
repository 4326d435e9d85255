import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPki } from '../packages/apiserver/src/index.ts'
import { realEnvironment } from '../packages/environment/src/index.ts'
import { EtcdServer, hasEtcd, needsEtcd } from '../packages/store/src/testing/etcd-server.ts'
import { Api, post } from './support/api.ts'
import { configMap, paths } from './support/objects.ts'
import { Program, runCoracle } from './support/program.ts'

describe.skipIf(!hasEtcd)('an etcd that lets in who shows a certificate', needsEtcd, () => {
  let directory: string
  let etcd: EtcdServer
  const path = (name: string) => join(directory, name)
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'coracle-etcd-pki-'))
    const { ca, serving, admin } = createPki(realEnvironment())
    const files = {
      'ca.crt': ca.certificatePem,
      'etcd.crt': serving.certificatePem,
      'etcd.key': serving.keyPem,
      'client.crt': admin.certificatePem,
      'client.key': admin.keyPem,
    }
    await Promise.all(Object.entries(files).map(([name, pem]) => writeFile(path(name), pem)))
    etcd = await EtcdServer.start({
      scheme: 'https',
      args: [
        ...['--cert-file', path('etcd.crt'), '--key-file', path('etcd.key')],
        ...['--client-cert-auth', '--trusted-ca-file', path('ca.crt')],
      ],
    })
  })
  afterAll(async () => {
    await etcd?.[Symbol.asyncDispose]()
    await rm(directory, { recursive: true, force: true })
  })
  const common = ['--runtime', 'simulated', '--nodes', '0']
  const shown = () => ['--etcd-certfile', path('client.crt'), '--etcd-keyfile', path('client.key')]

  it('is used with the files that upstream’s flags name', async () => {
    const servers = ['--etcd-servers', `https://${etcd.address}`, '--etcd-prefix', '/team']
    await using program = await Program.start({
      args: [...common, ...servers, '--etcd-cafile', path('ca.crt'), ...shown()],
    })
    const api = await Api.of(program)
    await api.object(paths.configMaps, post(configMap('kept')))
    expect((await api.object(`${paths.configMaps}/kept`)).metadata.name).toBe('kept')
    api.close()
  })

  it.each([
    ['no certificate is shown', () => ['--etcd-cafile', path('ca.crt')]],
    ['its own is from nobody known', () => [...shown()]],
  ])('is not used where %s: the start fails, and says which etcd', async (_, flags) => {
    const dataDir = path('data')
    const store = ['--store', `etcd://${etcd.address}`]
    const args = ['up', '--port', '0', '--data-dir', dataDir, ...common, ...store, ...flags()]
    const { code, stderr } = await runCoracle(args)
    expect([code, stderr]).toEqual([1, expect.stringContaining(`error: the store at ${etcd.address} is not available`)])
  })
})
