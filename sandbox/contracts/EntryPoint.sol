// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IAccount, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";

/// The ERC-4337 EntryPoint of the local chains, at the canonical address of version 0.7. It has the same hashes,
/// nonces, errors and order of events as the real contract. We wrote it ourselves because the licence of the real
/// contract (GPL-3.0) does not fit this project. Gas is free on the local chains, so it has no deposits, stakes,
/// aggregators or factories. It never calls a paymaster: the paymaster's address only appears in events.
contract EntryPoint {
    event BeforeExecution();
    event UserOperationEvent(
        bytes32 indexed userOpHash,
        address indexed sender,
        address indexed paymaster,
        uint256 nonce,
        bool success,
        uint256 actualGasCost,
        uint256 actualGasUsed
    );
    event UserOperationRevertReason(
        bytes32 indexed userOpHash,
        address indexed sender,
        uint256 nonce,
        bytes revertReason
    );

    error FailedOp(uint256 opIndex, string reason);
    error FailedOpWithRevert(uint256 opIndex, string reason, bytes inner);
    error ReentrancyGuardReentrantCall();

    /// Gas that the EntryPoint itself uses after an operation's call: it emits an event and continues its loop.
    uint256 private constant OVERHEAD_GAS = 30_000;

    /// The next sequence number for each nonce key of each account.
    mapping(address sender => mapping(uint192 key => uint256)) public nonceSequenceNumber;
    bool private _entered;

    /// @return nonce the key in the upper 192 bits, and the key's next sequence number in the lower 64 bits
    function getNonce(address sender, uint192 key) external view returns (uint256 nonce) {
        return nonceSequenceNumber[sender][key] | (uint256(key) << 64);
    }

    function getUserOpHash(PackedUserOperation calldata op) public view returns (bytes32) {
        bytes32 hash = keccak256(
            abi.encode(
                op.sender,
                op.nonce,
                keccak256(op.initCode),
                keccak256(op.callData),
                op.accountGasLimits,
                op.preVerificationGas,
                op.gasFees,
                keccak256(op.paymasterAndData)
            )
        );
        return keccak256(abi.encode(hash, address(this), block.chainid));
    }

    /// Validates every operation, then executes each one. An invalid operation reverts the whole bundle. If an
    /// operation's call fails, only that operation reverts, and its event reports the failure.
    function handleOps(PackedUserOperation[] calldata ops, address payable beneficiary) external {
        if (_entered) revert ReentrancyGuardReentrantCall();
        _entered = true;
        require(beneficiary != address(0), "AA90 invalid beneficiary");
        bytes32[] memory hashes = new bytes32[](ops.length);
        for (uint256 i = 0; i < ops.length; i++) {
            hashes[i] = getUserOpHash(ops[i]);
            _validate(i, ops[i], hashes[i]);
        }
        emit BeforeExecution();
        for (uint256 i = 0; i < ops.length; i++) _execute(i, ops[i], hashes[i]);
        _entered = false;
    }

    function _validate(uint256 index, PackedUserOperation calldata op, bytes32 hash) private {
        if (op.sender.code.length == 0) revert FailedOp(index, "AA20 account not deployed");
        uint256 verificationGas = uint256(op.accountGasLimits) >> 128;
        try IAccount(op.sender).validateUserOp{gas: verificationGas}(op, hash, 0) returns (uint256 validationData) {
            if (validationData != 0) revert FailedOp(index, "AA24 signature error");
        } catch (bytes memory reason) {
            revert FailedOpWithRevert(index, "AA23 reverted", reason);
        }
        if (nonceSequenceNumber[op.sender][uint192(op.nonce >> 64)]++ != uint64(op.nonce)) {
            revert FailedOp(index, "AA25 invalid account nonce");
        }
    }

    function _execute(uint256 index, PackedUserOperation calldata op, bytes32 hash) private {
        uint256 gasBefore = gasleft();
        uint256 callGas = uint128(uint256(op.accountGasLimits));
        // Without this check, the bundler could make the operation fail by providing too little gas for its call.
        if ((gasBefore * 63) / 64 < callGas + OVERHEAD_GAS) revert FailedOp(index, "AA95 out of gas");
        (bool success, bytes memory reason) = op.sender.call{gas: callGas}(op.callData);
        if (!success && reason.length > 0) emit UserOperationRevertReason(hash, op.sender, op.nonce, reason);
        emit UserOperationEvent(hash, op.sender, _paymasterOf(op), op.nonce, success, 0, gasBefore - gasleft());
    }

    function _paymasterOf(PackedUserOperation calldata op) private pure returns (address) {
        return op.paymasterAndData.length < 20 ? address(0) : address(bytes20(op.paymasterAndData[:20]));
    }
}
