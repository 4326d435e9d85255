import type { RequestContext, User } from './request.ts'

/** Who the server itself acts as. */
export const apiServerUser: User = { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }

/** What the server does of its own accord. */
export const apiServerContext: RequestContext = { user: apiServerUser, userAgent: 'coracle/apiserver' }
