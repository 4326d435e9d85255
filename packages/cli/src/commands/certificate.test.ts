import { X509Certificate } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { certificateSigningRequests } from '@coracle/api'
import { certificateRequests } from '@coracle/api/testing'
import { type Cluster, startCluster } from '@coracle/cluster'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../testing/recording-host.ts'

let directory: string
let cluster: Cluster

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'certificate-'))
  cluster = await startCluster({ dataDir: join(directory, '.coracle'), store: 'memory', runtime: 'simulated' })
})

afterAll(async () => {
  await cluster.stop()
  await rm(directory, { recursive: true, force: true })
})

const coracle = (...args: readonly string[]) => runCommand(args, { workingDirectory: directory })

const request = (name: string, spec: object = {}) =>
  cluster.client.create(certificateSigningRequests, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: { request: certificateRequests.rsa, signerName: 'example.com/own', usages: ['any'], ...spec },
  } as never)
const conditionsOf = async (name: string) =>
  (await cluster.client.get(certificateSigningRequests, { name })).status?.conditions

describe('coracle certificate', () => {
  it('approves requests, several at once', async () => {
    await request('a')
    await request('b')
    expect(await coracle('certificate', 'approve', 'a', 'b')).toEqual({
      code: 0,
      stdout:
        'certificatesigningrequest.certificates.k8s.io/a approved\ncertificatesigningrequest.certificates.k8s.io/b approved\n',
      stderr: '',
    })
    expect(await conditionsOf('b')).toMatchObject([
      {
        type: 'Approved',
        status: 'True',
        reason: 'KubectlApprove',
        message: 'This CSR was approved by kubectl certificate approve.',
      },
    ])
  })

  it('denies a request, and does not approve it any more', async () => {
    await request('c')
    expect((await coracle('certificate', 'deny', 'c', '-o', 'name')).stdout).toBe(
      'certificatesigningrequest.certificates.k8s.io/c\n',
    )
    expect(await coracle('certificate', 'approve', 'c')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('certificate signing request "c" is already Denied'),
    })
    expect(await conditionsOf('c')).toMatchObject([{ type: 'Denied', reason: 'KubectlDeny' }])
  })

  it('writes a decision once', async () => {
    await request('d')
    await coracle('certificate', 'approve', 'd')
    const before = await conditionsOf('d')
    expect((await coracle('certificate', 'approve', 'd')).stdout).toContain('approved')
    expect(await conditionsOf('d')).toEqual(before)
  })

  it('says what it needs', async () => {
    expect(await coracle('certificate', 'approve')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('one or more CSRs must be specified as <name> or -f <filename>'),
    })
  })
})

it('an approved request for a signer of the cluster gets its certificate', async () => {
  const signerName = 'kubernetes.io/kube-apiserver-client'
  await request('jane', { request: certificateRequests.jane, signerName, usages: ['client auth'] })
  await coracle('certificate', 'approve', 'jane')
  const issued = await expect
    .poll(async () => (await cluster.client.get(certificateSigningRequests, { name: 'jane' })).status?.certificate)
    .not.toBeUndefined()
    .then(
      async () => (await cluster.client.get(certificateSigningRequests, { name: 'jane' })).status?.certificate ?? '',
    )
  const certificate = new X509Certificate(Buffer.from(issued, 'base64'))
  const config = await coracle(
    'config',
    'view',
    '--raw',
    '-o',
    'jsonpath={.clusters[0].cluster.certificate-authority-data}',
  )
  const authority = new X509Certificate(Buffer.from(config.stdout, 'base64'))
  expect(certificate.verify(authority.publicKey)).toBe(true)
  expect(certificate.subject.split('\n').sort()).toEqual(['CN=jane', 'O=dev', 'O=ops'])
  expect((await coracle('get', 'csr', 'jane', '--no-headers')).stdout).toMatch(/Approved,Issued\n$/)
})

it('a request is described by what is in it', async () => {
  await request('web', { expirationSeconds: 7200 })
  const { stdout } = await coracle('describe', 'csr', 'web')
  expect(stdout.replace(/^CreationTimestamp:.*$/m, 'CreationTimestamp:  then')).toBe(`Name:                web
Labels:              <none>
Annotations:         <none>
CreationTimestamp:  then
Requesting User:     kubernetes-admin
Signer:              example.com/own
Requested Duration:  120m
Status:              Pending
Subject:
  Common Name:          web
  Serial Number:        7
  Organization:         Ä GmbH
  Organizational Unit:  it
  Country:              DE
  Locality:             Berlin
  Province:             BE
  StreetAddress:        Allee 1
  PostalCode:           10115
Subject Alternative Names:
         DNS Names:        web.example.com
         Email Addresses:  a@example.com
         URIs:             spiffe://x/y
Events:  <none>
`)
})
