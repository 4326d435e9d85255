import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VirtualClock } from '@coracle/environment'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectionOf, parseKubeconfig } from './kubeconfig.ts'
import { checkPlugin, type PluginPolicy } from './plugin-policy.ts'

let directory: string
let login: string
const path = process.env.PATH

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'policy-'))
  login = join(directory, 'login')
  await writeFile(login, '#!/bin/sh\nexit 1\n')
  await chmod(login, 0o755)
  process.env.PATH = `${directory}:${path}`
})

afterAll(async () => {
  process.env.PATH = path
  await rm(directory, { recursive: true })
})

const allow = (...commands: readonly string[]): PluginPolicy => ({ type: 'Allowlist', commands })

it('lets the plugins of a list run, by name or by path', () => {
  for (const command of ['login', login, `${directory}/./login`]) {
    expect(() => checkPlugin(command, allow('other', 'login'))).not.toThrow()
    expect(() => checkPlugin(command, allow(login))).not.toThrow()
  }
})

it('tells which may not run, in client-go’s words', () => {
  expect(() => checkPlugin('login', { type: 'DenyAll' })).toThrow(
    'getting credentials: plugin "login" not allowed: policy set to "DenyAll"',
  )
  expect(() => checkPlugin('login', allow('other'))).toThrow(
    `getting credentials: plugin path "${login}" is not permitted by the credential plugin allowlist`,
  )
  expect(() => checkPlugin('nowhere', allow('login'))).toThrow(
    'plugin path "nowhere" cannot be resolved for credential plugin allowlist check: exec: "nowhere": executable file not found in $PATH',
  )
})

it('is asked before a plugin is run', async () => {
  const config = await parseKubeconfig(
    `
current-context: one
contexts: [{name: one, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: 'https://h'}}]
users: [{name: u, user: {exec: {command: login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}}}]
`,
    join(directory, 'config'),
  )
  const choice = { clock: new VirtualClock(), pluginPolicy: allow('other') }
  await expect(connectionOf(config, choice)).rejects.toThrow('is not permitted by the credential plugin allowlist')
})
