interface Guide {
  readonly meaning: string
  /** A command that calls the endpoint. The commands of the page run in the order of the endpoints. */
  readonly example: string
}

/** What each endpoint of the control API does. */
export const CONTROL_GUIDE: Readonly<Record<string, Guide>> = {
  'GET /': {
    meaning:
      "Returns the sandbox's addresses, the demo workspace with its keys, the time of its clock (`now`), and `endpoints`: this list.",
    example: 'curl -s "$BURSAR_CONTROL_URL/" | jq .now',
  },
  'POST /workspaces': {
    meaning:
      'Creates a workspace with an owner, whose passkey the sandbox holds. Returns its `slug`, and an API key for each mode.',
    example: `SLUG=$(${post('/workspaces', '{"name":"Shop","plan":"pro"}')} | jq -r .workspace.slug)`,
  },
  'POST /workspaces/:slug/keys': {
    meaning:
      'Creates an API key. With `agent_id`, the key is bound to this agent. `scopes` is a list of `wallet:read`, `wallet:transfer` and `x402:pay`; without it, the key has all scopes. The response is the only one with the secret.',
    example: `KEY=$(${post('/workspaces/demo/keys', `{"mode":"test","agent_id":"'$BURSAR_AGENT'","scopes":["wallet:read","wallet:transfer"]}`)} | jq -r .key.secret)`,
  },
  'POST /workspaces/:slug/wallets': {
    meaning: 'Creates a wallet, and sends it `fund_usdc` of test money if this is given.',
    example: `WALLET=$(${post('/workspaces/$SLUG/wallets', '{"mode":"test","fund_usdc":"25"}')} | jq -r .wallet.address)`,
  },
  'POST /workspaces/:slug/grants': {
    meaning:
      "Creates a grant, and signs it with the owner's passkey. The agent must exist. With `sign: false`, the grant stays pending. `x402: true` allows purchases; then a `contract_allowlist` must contain the USDC contract. An empty `recipient_allowlist` allows every recipient.",
    example: `SHOP_KEY=$(${post('/workspaces/$SLUG/keys', '{"mode":"test"}')} | jq -r .key.secret)
curl -s "$BURSAR_URL/v1/agents" -H "Authorization: Bearer $SHOP_KEY" -H 'Content-Type: application/json' -d '{"id":"buyer"}'
GRANT=$(${post(
      '/workspaces/$SLUG/grants',
      `{"mode":"test","agent_id":"buyer","wallet":"'$WALLET'","max_per_tx_usdc":"2","daily_cap_usdc":"10","sign":false}`,
    )} | jq -r .grant.id)`,
  },
  'POST /workspaces/:slug/webhooks': {
    meaning:
      'Creates a webhook endpoint, which can be on your own machine. Without `events`, it receives all event types. The response is the only one with the secret.',
    example: post(
      '/workspaces/$SLUG/webhooks',
      '{"mode":"test","url":"http://127.0.0.1:9998/hooks","events":["permission.granted"]}',
    ),
  },
  'GET /workspaces/:slug/deliveries': {
    meaning:
      'Lists the deliveries to the webhook endpoints of the workspace in both modes, newest first, with all attempts.',
    example: 'curl -s "$BURSAR_CONTROL_URL/workspaces/$SLUG/deliveries"',
  },
  'POST /workspaces/:slug/consent': {
    meaning:
      'Connects an application as its user would. The owner signs in, opens `authorize_url`, and approves (or denies, with `approve: false`). Returns `location`: the address to which the browser is redirected, with the `code`.',
    example: `CLIENT=$(curl -s "$BURSAR_AUTH_URL/oauth/register" -H 'Content-Type: application/json' \\
  -d '{"client_name":"My host","redirect_uris":["http://127.0.0.1/callback"]}' | jq -r .client_id)
CHALLENGE=$(node -p "require('crypto').createHash('sha256').update('a'.repeat(43)).digest('base64url')")
${post(
  '/workspaces/demo/consent',
  `{"authorize_url":"'$BURSAR_AUTH_URL'/oauth/authorize?response_type=code&client_id='$CLIENT'&redirect_uri=http://127.0.0.1:9999/callback&code_challenge='$CHALLENGE'&code_challenge_method=S256&scope=wallet:read&state=1","mode":"test","agent_id":"'$BURSAR_AGENT'"}`,
)}`,
  },
  'POST /workspaces/:slug/plan': {
    meaning:
      "Changes the workspace's plan. `allowance_used` sets how many live payments of this month are used up, to provoke `plan_cap_exceeded`.",
    example: post('/workspaces/$SLUG/plan', '{"plan":"developer","allowance_used":0}'),
  },
  'POST /grants/:id/sign': {
    meaning: "Signs a pending grant with the owner's passkey. Only grants that this API created can be signed.",
    example: post('/grants/$GRANT/sign'),
  },
  'POST /grants/:id/revoke': {
    meaning: "Revokes a grant, with the owner's signature. A revoked grant stays revoked.",
    example: post('/grants/$GRANT/revoke'),
  },
  'POST /grants/:id/suspend': {
    meaning: 'Suspends an active grant, which needs no signature.',
    example: `OTHER=$(${post(
      '/workspaces/$SLUG/grants',
      `{"mode":"test","agent_id":"buyer","wallet":"'$WALLET'","max_per_tx_usdc":"2","daily_cap_usdc":"10"}`,
    )} | jq -r .grant.id)
${post('/grants/$OTHER/suspend')}`,
  },
  'POST /grants/:id/resume': {
    meaning: "Resumes a suspended grant, with the owner's signature.",
    example: post('/grants/$OTHER/resume'),
  },
  'POST /workspaces/:slug/stop': {
    meaning:
      'Stops all agents at once, as the button on the dashboard does: suspends every active grant of the mode. With `agent_id` or `wallet`, only the grants of this agent or wallet. Returns how many grants were suspended.',
    example: post('/workspaces/$SLUG/stop', '{"mode":"test"}'),
  },
  'POST /deliveries/:id/replay': {
    meaning: 'Sends an event again, in a new delivery.',
    example: `DELIVERY=
until [ -n "$DELIVERY" ]; do
  DELIVERY=$(curl -s "$BURSAR_CONTROL_URL/workspaces/$SLUG/deliveries" | jq -r '.deliveries[0].id // empty')
done
${post('/deliveries/$DELIVERY/replay')}`,
  },
  'POST /keys/rotate': {
    meaning: 'Creates a new secret for a key. The old one works until `grace_until`.',
    example: `NEW_KEY=$(${post('/keys/rotate', `{"key":"'$KEY'"}`)} | jq -r .key.secret)`,
  },
  'POST /keys/revoke': {
    meaning: 'Revokes a key at once.',
    example: post('/keys/revoke', `{"key":"'$NEW_KEY'"}`),
  },
  'POST /faucet': {
    meaning: "Sends test USDC, or the chain's native coin, to any address.",
    example: post('/faucet', `{"mode":"test","address":"'$WALLET'","amount_usdc":"5"}`),
  },
  'POST /clock': {
    meaning:
      'Moves the clock of the service and the enclave forward, to see what expires, or back to the real time. The chains keep their own time: `POST /chains/{mode}` moves it.',
    example: `${post('/clock', '{"advance_seconds":3600}')}\n${post('/clock', '{"reset":true}')}`,
  },
  'POST /chains/:mode': {
    meaning:
      "Makes a chain do what a real chain does now and then. `mining: false` stops its blocks, `mine` makes blocks, `reorg` replaces the newest blocks with others without their transactions, and `fail_transfers` lets the next transfers revert. `advance_seconds` moves the chain's time forward: after 130 seconds, an authorization that a seller has not used has expired. The time of a chain cannot be moved back, so move the clock by as many seconds too. Otherwise the chain treats every later authorization as expired.",
    example: post('/chains/test', '{"mine":2}'),
  },
  'GET /enclave/faults': {
    meaning: 'Returns how many requests have met a fault.',
    example: 'curl -s "$BURSAR_CONTROL_URL/enclave/faults"',
  },
  'POST /enclave/faults': {
    meaning:
      'Makes the enclave fail. A fault is an error or a status that the provider documents, a late response, or a lost one. `none` removes the faults that are left.',
    example: `${post('/enclave/faults', '{"fault":"random","share":0.1,"faults":["lost_response"]}')}\n${post('/enclave/faults', '{"fault":"none"}')}`,
  },
  'POST /enclave/clock': {
    meaning: "Sets how far the enclave's clock is ahead of the service's clock.",
    example: `${post('/enclave/clock', '{"offset_seconds":3}')}\n${post('/enclave/clock', '{"offset_seconds":0}')}`,
  },
  'POST /seller/resources': {
    meaning: "Creates a resource at the sandbox's seller, with its own price and faults. Returns its `url`.",
    example: `RESOURCE=$(${post('/seller/resources', '{"price_usdc":"0.02","faults":["answer_lost"],"fault_count":1}')} | jq -r .resource.id)`,
  },
  'GET /seller/resources/:id': {
    meaning: 'Returns a resource with what happened to it: how often it was requested and paid.',
    example: 'curl -s "$BURSAR_CONTROL_URL/seller/resources/$RESOURCE"',
  },
  'POST /enclave/profile': {
    meaning: 'Makes the enclave as slow as the real one, or as fast as this machine allows.',
    example: post('/enclave/profile', '{"profile":"fast"}'),
  },
  'POST /enclave/references': {
    meaning:
      'Chooses what happens to a transfer whose reference id an earlier transfer has. The real provider only documents that reference ids must be unique.',
    example: `${post('/enclave/references', '{"repeated":"allow"}')}\n${post('/enclave/references', '{"repeated":"collide"}')}`,
  },
  'POST /enclave/forget-answers': {
    meaning:
      'Makes the enclave forget every response that it stores under an idempotency key. The real provider forgets them after 24 hours.',
    example: post('/enclave/forget-answers', '{}'),
  },
}

function post(path: string, body?: string): string {
  const url = `curl -s "$BURSAR_CONTROL_URL${path}"`
  return body === undefined ? `${url} -X POST` : `${url} -H 'Content-Type: application/json' -d '${body}'`
}
