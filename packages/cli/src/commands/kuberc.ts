import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CliError } from '../cli-error.ts'
import type { ConnectionFlags } from '../connection.ts'
import type { Host } from '../host.ts'
import { ObjectPrinter } from '../output/object-printer.ts'
import { type OutputFormatFlags, readGivenFormat } from '../output/output-format.ts'
import { serialize } from '../output/serialize.ts'
import {
  type OptionDefault,
  type Preference,
  preferenceGroup,
  preferenceValue,
  readPreference,
} from '../preferences/preference.ts'
import { isMissing, type PreferencesFile, preferencesFile, readPreferences } from '../preferences/preferences-file.ts'
import { splitOnce } from '../split-once.ts'

interface KubercFlags extends ConnectionFlags {
  readonly kuberc?: string
}

export interface KubercViewFlags extends KubercFlags, OutputFormatFlags {
  readonly allowMissingTemplateKeys: boolean
}

export interface KubercSetFlags extends KubercFlags {
  readonly section?: string
  readonly command?: string
  readonly name?: string
  readonly option?: readonly string[]
  readonly prependarg?: readonly string[]
  readonly appendarg?: readonly string[]
  readonly policy?: string
  readonly allowlistEntry?: readonly string[]
  readonly overwrite?: boolean
}

const nothing: Preference = {
  defaults: [],
  aliases: [],
  credentialPluginPolicy: '',
  credentialPluginAllowlist: undefined,
}

/** What is offered to somebody who has no preferences. */
const recommended: Preference = {
  ...nothing,
  defaults: [
    { command: 'apply', options: [{ name: 'server-side', default: 'true' }] },
    { command: 'delete', options: [{ name: 'interactive', default: 'true' }] },
  ],
}

/** `coracle kuberc view` */
export async function viewPreferences(host: Host, flags: KubercViewFlags): Promise<void> {
  const file = chosenFile(host, flags)
  const text = await storedText(file)
  if (text === undefined) {
    if (file.isExplicit) throw new CliError(`kuberc file not found at ${file.named}`)
    return offer(host, file)
  }
  const { output = flags.template ? 'go-template' : 'yaml' } = flags
  const format = (await readGivenFormat(host, { ...flags, output })) ?? { type: 'yaml' }
  if (format.type === 'table') throw new CliError('preferences have no table')
  const object = preferenceValue(await parsed(text), [])
  if (format.type === 'name') {
    host.stdout.write('preference.kubectl.config.k8s.io/<unknown>\n')
    return
  }
  // The order of their type, which is not that of the alphabet.
  if (format.type === 'json' || format.type === 'kyaml') {
    host.stdout.write(await serialize(object, format.type, true))
    return
  }
  const resource = {
    group: preferenceGroup,
    version: 'v1beta1',
    kind: 'Preference',
    plural: 'preferences',
    namespaced: false,
  }
  const printer = new ObjectPrinter(format, { requireKeys: !flags.allowMissingTemplateKeys })
  host.stdout.write(await printer.one({ resource, object: object as typeof object & { readonly metadata: object } }))
}

/** Asks whether to write a file with what is recommended. */
async function offer(host: Host, file: PreferencesFile): Promise<void> {
  host.stdout.write(`kuberc file not found at ${file.named}\n`)
  const { confirm } = await import('./confirm.ts')
  const question = 'Would you like to generate a default kuberc file with recommended options?'
  if (await confirm(host, question)) await write(host, file, recommended)
}

/** `coracle kuberc set` */
export async function setPreferences(host: Host, flags: KubercSetFlags): Promise<void> {
  if (flags.section === undefined) throw new CliError('required flag(s) "section" not set')
  const file = chosenFile(host, flags)
  checkFlags(flags)
  const text = await storedText(file)
  const preference = text === undefined ? nothing : await parsed(text)
  const options = (flags.option ?? []).map(optionDefault)
  await write(host, file, changed(preference, flags, options))
}

function chosenFile(host: Host, { kuberc }: KubercFlags): PreferencesFile {
  const file = preferencesFile(host, kuberc)
  if (file === undefined) throw new CliError('KUBERC is disabled via KUBERC=off environment variable')
  return file
}

/** Throws a CliError, in kubectl's words, where flags do not go together. */
function checkFlags({ section, name = '', command = '', ...flags }: KubercSetFlags): void {
  const { policy = '', allowlistEntry = [], prependarg = [], appendarg = [] } = flags
  if (section !== 'defaults' && section !== 'aliases' && section !== 'credentialplugin') {
    throw new CliError(`--section must be "defaults", "aliases", or "credentialplugin", got: ${section}`)
  }
  if (section === 'aliases' && name === '') throw new CliError('--name is required when --section=aliases')
  if (section === 'defaults' && name !== '') {
    throw new CliError('--name should not be specified when --section=defaults')
  }
  if (section === 'defaults' && prependarg.length + appendarg.length > 0) {
    throw new CliError('--prependarg and --appendarg are only valid for --section=aliases')
  }
  if (section !== 'credentialplugin') {
    if (command === '') throw new CliError('--command is required when --section=aliases or --section=defaults')
    return
  }
  if (policy === '') throw new CliError('--policy is required when --section=credentialplugin')
  if (!['AllowAll', 'DenyAll', 'Allowlist'].includes(policy)) {
    throw new CliError(` --policy must be  "AllowAll", "DenyAll", or "Allowlist", got: ${policy}`)
  }
  const hasEntries = allowlistEntry.length > 0
  if (hasEntries === (policy === 'Allowlist')) return
  throw new CliError(
    `--allowlist-entry ${hasEntries ? 'may only be used' : 'is required'} when --section=credentialplugin and --policy=Allowlist`,
  )
}

function optionDefault(text: string): OptionDefault {
  if (!text.includes('=')) throw new CliError(`invalid option format ${JSON.stringify(text)}, expected flag=value`)
  const [name = '', value = ''] = splitOnce(text, '=')
  return { name: name.replace(/^-+/, ''), default: value }
}

function changed(before: Preference, flags: KubercSetFlags, options: readonly OptionDefault[]): Preference {
  const { section, name = '', command = '', overwrite = false, policy = '' } = flags
  // What is left out stays as it was.
  const orBefore = <T>(now: readonly T[] = [], then: readonly T[] = []) => (now.length === 0 ? then : now)
  switch (section) {
    case 'defaults': {
      const present = before.defaults.find((each) => each.command === command)
      if (present !== undefined && !overwrite) {
        throw new CliError(`defaults for command ${JSON.stringify(command)} already exist, use --overwrite to replace`)
      }
      const entry = { command, options: orBefore(options, present?.options) }
      return { ...before, defaults: withEntry(before.defaults, present, entry) }
    }
    case 'aliases': {
      const present = before.aliases.find((each) => each.name === name)
      if (present !== undefined && !overwrite) {
        throw new CliError(`alias ${JSON.stringify(name)} already exists, use --overwrite to replace`)
      }
      const entry = {
        name,
        command,
        prependArgs: orBefore(flags.prependarg, present?.prependArgs),
        appendArgs: orBefore(flags.appendarg, present?.appendArgs),
        options: orBefore(options, present?.options),
      }
      return { ...before, aliases: withEntry(before.aliases, present, entry) }
    }
    default: {
      const list =
        policy === 'Allowlist' ? allowedCommands(flags.allowlistEntry ?? []) : before.credentialPluginAllowlist
      return { ...before, credentialPluginPolicy: policy, credentialPluginAllowlist: list }
    }
  }
}

/** The same entries, one in its place or at the end. */
const withEntry = <T>(entries: readonly T[], present: T | undefined, entry: T): readonly T[] =>
  present === undefined ? [...entries, entry] : entries.map((each) => (each === present ? entry : each))

/** The commands of `command=COMMAND` pairs. Throws all that is wrong with them. */
function allowedCommands(texts: readonly string[]): readonly string[] {
  const commands: string[] = []
  const problems: string[] = []
  for (const pair of texts.flatMap((text) => text.split(','))) {
    const [field = '', value = ''] = splitOnce(pair, '=')
    const shown = JSON.stringify(field)
    if (!pair.includes('=')) problems.push(`improperly formatted allowlist entry: ${JSON.stringify(pair)}`)
    else if (field === 'name') problems.push('allowlist entry field "name" is deprecated, use "command" instead')
    else if (field !== 'command') problems.push(`unrecognized allowlist entry field: ${shown}`)
    else if (value.trim() === '') problems.push(`empty value in allowlist entry for field ${shown}`)
    else commands.push(value)
  }
  const distinct = [...new Set(problems)]
  if (distinct.length > 0) throw new CliError(distinct.length === 1 ? distinct.join() : `[${distinct.join(', ')}]`)
  return commands
}

/** What the file holds; undefined where there is none. */
async function storedText({ path, named }: PreferencesFile): Promise<string | undefined> {
  try {
    return await readPreferences(path, named)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if (isMissing(error)) return undefined
    throw new CliError(`error reading kuberc file: ${error.message}`)
  }
}

async function parsed(text: string): Promise<Preference> {
  if (text.trim() === '') return nothing
  const { parse } = await import('yaml')
  try {
    return readPreference(parse(text)).preference
  } catch (error) {
    throw new CliError(`error parsing kuberc file: ${error instanceof Error ? error.message : error}`)
  }
}

async function write({ stdout }: Host, { path, named }: PreferencesFile, preference: Preference): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o755 })
  await writeFile(path, await serialize(preferenceValue(preference), 'yaml'), { mode: 0o644 }).catch((error: Error) => {
    throw new CliError(`failed to write kuberc file: ${error.message}`)
  })
  stdout.write(`Updated ${named}\n`)
}
