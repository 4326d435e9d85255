import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * What programs take from the environment of whoever starts them: which cluster is meant, editors, proxies, places for settings and
 * caches, the language and time zone of what they print, colours, how Node, Go and shells run.
 */
const personal: readonly RegExp[] = [
  /^(KUBE|HELM_|ETCD_|ETCDCTL_|XDG_|LC_)/,
  /^(EDITOR|VISUAL|PAGER|LANG|LANGUAGE|TZ)$/,
  /^(HTTP|HTTPS|ALL|NO)_PROXY$/i,
  /^(NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE)$/,
  // By the name of the command that a shell has run `up` knows that it is to outlive its terminal.
  /^_$/,
  /^(NODE_OPTIONS|GODEBUG|GOGC|GOMAXPROCS|BASH_ENV|ENV|CDPATH|POSIXLY_CORRECT)$/,
]

/** The name of the home directory within that of temporary files. */
export const homeName = 'home'

/** An environment in which tests, and the programs that they start, behave the same whoever runs them. */
export function neutral(
  environment: Readonly<Record<string, string | undefined>>,
  home: string,
): Readonly<Record<string, string | undefined>> {
  const kept = Object.entries(environment).filter(([name]) => !personal.some((pattern) => pattern.test(name)))
  return { ...Object.fromEntries(kept), HOME: home, LC_ALL: 'C.UTF-8', TZ: 'UTC' }
}

/** Vitest's global set-up, after that of the temporary directory: gives a run of the tests that environment, and an empty home. */
export default function setup(): void {
  const home = join(process.env.TMPDIR ?? '.', homeName)
  mkdirSync(home, { mode: 0o755, recursive: true })
  const wanted = neutral(process.env, home)
  for (const name of Object.keys(process.env)) if (!(name in wanted)) delete process.env[name]
  Object.assign(process.env, wanted)
}
