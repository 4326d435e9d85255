import type { KeyPair } from './certificates.ts'
import { type FileSystem, hostFiles, writePrivateFile } from './private-files.ts'

export interface KubeconfigOptions {
  /** `https://127.0.0.1:6443` */
  readonly server: string
  readonly caPem: string
  readonly client: KeyPair
  /** Name of cluster and context, and of the user's entry. */
  readonly clusterName?: string
  readonly userName?: string
}

/**
 * A kubeconfig with everything in it, so that it works wherever it is copied.
 */
export function kubeconfigOf(options: KubeconfigOptions): string {
  const cluster = options.clusterName ?? 'coracle'
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

/** Writes the kubeconfig so that only its owner can read it; one that says the same already is left as it is. */
export async function writeKubeconfig(
  path: string,
  options: KubeconfigOptions,
  files: FileSystem = hostFiles,
): Promise<void> {
  const content = kubeconfigOf(options)
  if ((await files.read(path)) !== content) await writePrivateFile(files, path, content)
}
