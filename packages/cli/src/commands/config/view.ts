import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isFields, type KubeconfigDocument, type KubeconfigEntry, type KubeconfigFields } from '@coracle/client'
import { CliError } from '../../cli-error.ts'
import type { ConnectionFlags } from '../../connection.ts'
import type { Host } from '../../host.ts'
import { readKubeconfigs } from '../../kubeconfig/edit-kubeconfig.ts'
import { kubeconfigFiles } from '../../kubeconfig/kubeconfig-files.ts'
import { kubeconfigValue } from '../../kubeconfig/kubeconfig-form.ts'
import { ObjectPrinter } from '../../output/object-printer.ts'
import { type OutputFormatFlags, readGivenFormat } from '../../output/output-format.ts'

export interface ConfigViewFlags extends ConnectionFlags, OutputFormatFlags {
  readonly allowMissingTemplateKeys: boolean
  readonly raw?: boolean
  readonly flatten?: boolean
  readonly minify?: boolean
  readonly merge: boolean
}

/** `coracle config view` */
export async function viewConfig(host: Host, flags: ConfigViewFlags): Promise<void> {
  const { output = flags.template ? 'go-template' : 'yaml' } = flags
  const format = (await readGivenFormat(host, { ...flags, output })) ?? { type: 'yaml' }
  if (format.type === 'table') throw new CliError('a kubeconfig has no table')
  const files = await kubeconfigFiles(host, flags.kubeconfig)
  if (!flags.merge && !files.isExplicit) throw new CliError('if merge==false a precise file must be specified')
  const merged = await readKubeconfigs(files)
  const chosen = flags.minify === true ? minified(merged, flags.context) : merged
  const flat = flags.flatten === true ? await flattened(chosen) : chosen
  const value = kubeconfigValue(flags.raw === true || flags.flatten === true ? flat : redacted(flat))
  if (format.type === 'json') {
    // The only JSON that kubectl prints in an order of its own.
    host.stdout.write(`${JSON.stringify(value, undefined, 4)}\n`)
    return
  }
  if (format.type === 'name') {
    host.stdout.write('config/<unknown>\n')
    return
  }
  const resource = { group: '', version: 'v1', kind: 'Config', plural: 'configs', namespaced: false }
  const object = { apiVersion: 'v1', kind: 'Config', metadata: {}, ...value }
  const { metadata: _, ...shown } = object
  host.stdout.write(
    await new ObjectPrinter(format, { requireKeys: !flags.allowMissingTemplateKeys }).one({
      resource,
      object: shown as typeof object,
    }),
  )
}

/** Only what the current context, or the one named, takes. */
function minified(document: KubeconfigDocument, named: string | undefined): KubeconfigDocument {
  const context = named || document.currentContext
  if (context === undefined) throw new CliError('current-context must exist in order to minify')
  const entry = document.contexts.get(context)
  if (entry === undefined) throw new CliError(`cannot locate context ${context}`)
  const only = (entries: ReadonlyMap<string, KubeconfigEntry>, name: unknown) =>
    new Map([...entries].filter(([each]) => each === name))
  const { cluster, user } = entry.fields
  if (typeof cluster === 'string' && cluster !== '' && !document.clusters.has(cluster)) {
    throw new CliError(`cannot locate cluster ${cluster}`)
  }
  return {
    ...document,
    currentContext: context,
    contexts: new Map([[context, entry]]),
    clusters: only(document.clusters, cluster),
    users: only(document.users, user),
  }
}

const fileFields = ['certificate-authority', 'client-certificate', 'client-key']

/** Files are taken in where they are named, so that the kubeconfig is good anywhere. */
async function flattened(document: KubeconfigDocument): Promise<KubeconfigDocument> {
  const flatten = async (entries: ReadonlyMap<string, KubeconfigEntry>) =>
    new Map(await Promise.all([...entries].map(async ([name, entry]) => [name, await withFilesInside(entry)] as const)))
  return { ...document, clusters: await flatten(document.clusters), users: await flatten(document.users) }
}

async function withFilesInside(entry: KubeconfigEntry): Promise<KubeconfigEntry> {
  let { fields } = entry
  for (const name of fileFields) {
    const { [name]: path, ...others } = fields
    if (typeof path !== 'string' || path === '') continue
    const whole = resolve(dirname(entry.path ?? ''), path)
    const content = await readFile(whole).catch((error: NodeJS.ErrnoException) => {
      throw new CliError(`open ${whole}: ${error.code === 'ENOENT' ? 'no such file or directory' : error.message}`)
    })
    const data = `${name}-data`
    fields = { ...others, [data]: others[data] ?? content.toString('base64') }
  }
  return { ...entry, fields }
}

const omittedFields = ['certificate-authority-data', 'client-certificate-data', 'client-key-data']
const secretFields = ['token', 'password']

/** Without what lets a reader act as the user, and without what is long. */
function redacted(document: KubeconfigDocument): KubeconfigDocument {
  const redact = (fields: KubeconfigFields): KubeconfigFields =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => {
        if (value !== '' && omittedFields.includes(name)) return [name, 'DATA+OMITTED']
        if (value !== '' && secretFields.includes(name)) return [name, 'REDACTED']
        return [name, name === 'auth-provider' && isFields(value) ? redactProvider(value) : value]
      }),
    )
  const all = (entries: ReadonlyMap<string, KubeconfigEntry>) =>
    new Map([...entries].map(([name, entry]) => [name, { ...entry, fields: redact(entry.fields) }]))
  return { ...document, clusters: all(document.clusters), users: all(document.users) }
}

/** What old plugins keep in a kubeconfig is mostly tokens. */
function redactProvider(provider: KubeconfigFields): KubeconfigFields {
  if (!isFields(provider.config)) return provider
  return { ...provider, config: Object.fromEntries(Object.keys(provider.config).map((name) => [name, 'REDACTED'])) }
}
