export const query = `# An issue with everything that belongs to it.
query Issue($key: String!) {
  workspace {
    changeCursor
  }
  issue(key: $key) {
    id
    key
    title
    description
    priority
    dueDate
    estimateValue
    createdUtc
    updatedUtc
    closedUtc
    cycleTimeSeconds
    status {
      name
      category
      color
      isTerminal
    }
    team {
      code
      name
      color
    }
    project {
      key
      name
      color
    }
    delivery {
      name
      startsOn
      endsOn
    }
    reporter {
      displayName
    }
    assignees {
      userAccountId
      displayName
    }
    roleAssignments {
      role
      displayName
    }
    labels {
      name
      color
    }
    parent {
      id
      key
      title
    }
    subIssuesSummary {
      total
      completed
    }
    subIssues(first: 100) {
      nodes {
        key
        title
        priority
        status {
          name
          category
          color
        }
        primaryAssignee {
          displayName
        }
      }
    }
    links(first: 50) {
      nodes {
        title
        url
      }
    }
    attachments(first: 50) {
      nodes {
        id
        fileName
        contentType
        sizeBytes
        previewKind
        signedPreviewUrl
        signedDownloadUrl
        uploadedUtc
        uploadedBy {
          displayName
        }
      }
    }
    comments(last: 100) {
      totalCount
      nodes {
        id
        body
        createdUtc
        isEdited
        parentCommentId
        author {
          displayName
        }
      }
    }
    activity(last: 30) {
      totalCount
      nodes {
        occurredUtc
        text
      }
    }
    agentThread {
      status
      messageCount
      agent {
        displayName
      }
      messages(last: 50) {
        nodes {
          messageType
          body
          createdUtc
          author {
            displayName
          }
          followUpActions {
            name
          }
        }
      }
    }
  }
}`;

export const addressesQuery = `query AttachmentAddresses($id: ID!) {
  node(id: $id) {
    ... on Attachment {
      signedPreviewUrl
      signedDownloadUrl
    }
  }
}`;

export const subscription = `# Changes of the issue, its parent and its sub-issues, after which the page reads its query again.
subscription IssueChanges($after: String, $id: ID!, $ids: [ID!]!) {
  issues(after: $after, filter: { or: [{ id: { in: $ids } }, { parentIssueId: { eq: $id } }] }) {
    kind
    cursor
  }
}`;
