import { KubeconfigEdit } from '@coracle/client'
import type { KeyPair } from './certificates.ts'
import { type FileSystem, hostFiles, writePrivateFile } from './private-files.ts'

const defaultName = 'coracle'

export interface KubeconfigOptions {
  /** `https://127.0.0.1:6443` */
  readonly server: string
  readonly caPem: string
  readonly client: KeyPair
  /** Name of cluster and context, and of the user's entry; `coracle` by default. */
  readonly clusterName?: string | undefined
  readonly userName?: string
}

/**
 * A kubeconfig with everything in it, so that it works wherever it is copied.
 */
export function kubeconfigOf(options: KubeconfigOptions): string {
  const cluster = options.clusterName ?? defaultName
  const user = options.userName ?? `${cluster}-admin`
  const base64 = (pem: string): string => Buffer.from(pem).toString('base64')
  const certificate = base64(options.client.certificatePem)
  const key = base64(options.client.keyPem)
  return `apiVersion: v1
kind: Config
clusters:
- name: ${JSON.stringify(cluster)}
  cluster:
    server: ${JSON.stringify(options.server)}
    certificate-authority-data: ${base64(options.caPem)}
users:
- name: ${JSON.stringify(user)}
  user:
    client-certificate-data: ${certificate}
    client-key-data: ${key}
contexts:
- name: ${JSON.stringify(cluster)}
  context:
    cluster: ${JSON.stringify(cluster)}
    user: ${JSON.stringify(user)}
current-context: ${JSON.stringify(cluster)}
`
}

/**
 * Writes the kubeconfig so that only its owner can read it. One that says the same already is left as it is, and of one
 * that says more the entries of others stay, with the current context.
 */
export async function writeKubeconfig(
  path: string,
  options: KubeconfigOptions,
  files: FileSystem = hostFiles,
): Promise<void> {
  const existing = await files.read(path)
  const content = kubeconfigOf(options)
  const text =
    existing === undefined || !saysMore(existing, options) ? content : await withEntries(existing, path, options)
  if (existing !== text) await writePrivateFile(files, path, text)
}

/** Whether it has entries of other names. Cheap: the parser takes its time to load. */
function saysMore(
  text: string,
  { clusterName = defaultName, userName = `${clusterName}-admin` }: KubeconfigOptions,
): boolean {
  const names = [...text.matchAll(/^ *- name: "?([^"\n]*)/gm)].map(([, name]) => name)
  return names.some((name) => name !== clusterName && name !== userName)
}

async function withEntries(text: string, path: string, options: KubeconfigOptions): Promise<string> {
  const [edit, own] = await Promise.all([
    KubeconfigEdit.parse(text, path),
    KubeconfigEdit.parse(kubeconfigOf(options), path),
  ])
  for (const part of ['cluster', 'user', 'context'] as const) {
    for (const name of own.names(part)) edit.set(part, name, own.get(part, name) ?? {})
  }
  if (edit.currentContext === undefined) edit.currentContext = own.currentContext
  return edit.toString()
}
