/** What has to be known of the API as a whole; Markdown. */
export const INTRODUCTION = `Events (recordings) and series: their metadata, access control lists, tracks, publications and scheduling.

**Versions.** \`Accept: application/v1.11.0+json\` asks for one; \`application/json\`, \`*/*\` or no header at all get the
newest. Answers carry the media type of their version. What came later than 1.0.0 says so (\`x-since\`); a field is
missing in answers of older versions.

**Forms.** Requests carry form fields; those that hold JSON hold it as text (\`contentMediaType\`). Unknown fields and
query parameters are ignored.

**Errors.** A refusal is a bare sentence as \`text/plain\`; only scheduling conflicts are JSON. What an account may not
read does not exist for it (404).

**Browsers.** Pages of other sites may change nothing, unless the operator lists them (\`CORS_ORIGINS\`); who signed in to
\`/admin\` needs no credentials here, as long as that lasts.

**Acting for others.** An account with \`ROLE_SUDO\` may send \`X-RUN-AS-USER\` (a user name) and
\`X-RUN-WITH-ROLES\` (roles with commas between them).

**Times** are in UTC; durations and sizes are in milliseconds and bytes.`;
