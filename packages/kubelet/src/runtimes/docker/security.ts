import { readFileSync } from 'node:fs'
import { profileTypes } from '../cri/messages.ts'

interface Profile {
  readonly profileType: number
  readonly localhostRef: string
}

interface Selinux {
  readonly user: string
  readonly role: string
  readonly type: string
  readonly level: string
}

interface SecurityContext {
  readonly noNewPrivs: boolean
  readonly seccomp?: Profile | undefined
  readonly apparmor?: Profile | undefined
  readonly selinuxOptions?: Selinux | undefined
}

/** Profiles and labels as engines take them. Throws where a seccomp profile of this host cannot be read. */
export function securityOptions(context: SecurityContext, engine: string): readonly string[] {
  const { noNewPrivs, seccomp, apparmor, selinuxOptions } = context
  return [
    ...(noNewPrivs ? ['no-new-privileges'] : []),
    ...(seccomp === undefined ? [] : seccompOption(seccomp, engine)),
    ...(apparmor === undefined ? [] : apparmorOption(apparmor)),
    ...Object.entries(selinuxOptions ?? {}).flatMap(([name, text]) => (text === '' ? [] : [`label=${name}:${text}`])),
  ]
}

function seccompOption({ profileType, localhostRef }: Profile, engine: string): readonly string[] {
  if (profileType === profileTypes.Unconfined) return ['seccomp=unconfined']
  if (profileType === profileTypes.RuntimeDefault) return []
  // Docker wants the profile itself, Podman its path.
  return [`seccomp=${engine === 'podman' ? localhostRef : readFileSync(localhostRef, 'utf8')}`]
}

function apparmorOption({ profileType, localhostRef }: Profile): readonly string[] {
  if (profileType === profileTypes.Unconfined) return ['apparmor=unconfined']
  return profileType === profileTypes.RuntimeDefault ? [] : [`apparmor=${localhostRef}`]
}

interface UserContext {
  readonly runAsUser?: { readonly value: number } | undefined
  readonly runAsGroup?: { readonly value: number } | undefined
  readonly runAsUsername?: string
}

/** Who processes are: nothing where it is as the image says. A group alone is that of the superuser. */
export function userFields({ runAsUser, runAsGroup, runAsUsername = '' }: UserContext): { readonly User?: string } {
  const user = runAsUser === undefined ? runAsUsername : String(runAsUser.value)
  if (runAsGroup !== undefined) return { User: `${user || '0'}:${runAsGroup.value}` }
  return user === '' ? {} : { User: user }
}
