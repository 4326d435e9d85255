import type { WriteOrigin } from './causes/cause-note.ts'
import type { RequestContext, User } from './request.ts'

/** Whoever is in it may do everything. */
export const mastersGroup = 'system:masters'

/** Who the server itself acts as. */
export const apiServerUser: User = { name: 'system:apiserver', groups: [mastersGroup, 'system:authenticated'] }

/** What the server does of its own accord, and why. */
export const apiServerContext = (because: string): RequestContext => ({
  user: apiServerUser,
  userAgent: 'coracle/apiserver',
  claim: { because },
})

/** The origin of what the server itself writes, and why. */
export const apiServerOrigin = (verb: WriteOrigin['verb'], because: string): WriteOrigin => ({
  context: apiServerContext(because),
  verb,
  subresource: '',
  fieldManager: '',
})
